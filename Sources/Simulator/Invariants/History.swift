import FreshetWire

/// All that was ever true on the server in one epoch, by key and revision.
struct History {
    struct Version {
        var revision: Int64
        /// `nil`: there is no record.
        var content: Content?
    }

    let epoch: Epoch
    /// What it went on from, and how much of that it took over.
    let parent: (history: Int, through: Int64)?
    var head: Int64
    /// The last revision that the server has acknowledged; a crash must keep all revisions up to it.
    var acknowledged: Int64
    /// By the keys' numbers, in revision order.
    private(set) var versions: [[Version]]
    /// The revisions at which a key was invalidated.
    private(set) var invalidated: [[Int64]]

    init(_ cursor: Cursor, keys: Int) {
        epoch = cursor.epoch
        parent = nil
        head = cursor.revision.number
        acknowledged = head
        versions = Array(repeating: [], count: keys)
        invalidated = Array(repeating: [], count: keys)
    }

    /// What another history was at a revision, under a new epoch.
    init(_ cursor: Cursor, of other: History, number: Int, through: Int64) {
        epoch = cursor.epoch
        parent = (number, through)
        head = cursor.revision.number
        acknowledged = head
        versions = other.versions.map { versions in Array(versions.prefix { $0.revision <= through }) }
        invalidated = other.invalidated.map { revisions in Array(revisions.prefix { $0 <= through }) }
    }

    mutating func add(_ version: Version, of key: Int) { versions[key].append(version) }

    mutating func invalidate(_ key: Int, at revision: Int64) { invalidated[key].append(revision) }

    /// Forgets all changes and invalidations after a revision.
    mutating func cut(after revision: Int64) {
        head = revision
        for key in versions.indices {
            versions[key].removeAll { $0.revision > revision }
            invalidated[key].removeAll { $0 > revision }
        }
    }

    /// The record's last version at or before a revision. O(log n).
    func version(of key: Int, at revision: Int64) -> Version? {
        let list = versions[key]
        if let last = list.last, last.revision <= revision { return last }
        let place = Self.count(in: list.count) { list[$0].revision <= revision }
        return place > 0 ? list[place - 1] : nil
    }

    /// The revision of the record's last change at or before a revision; 0 for none. O(log n).
    func lastChange(of key: Int, at revision: Int64) -> Int64 { version(of: key, at: revision)?.revision ?? 0 }

    /// When the key was last changed or invalidated, at or before a revision; 0 for never. O(log n).
    /// - Parameter origin: the revision at which the device began to read from the start. Invalidations up to it do not count, since the
    ///   records that the device has read since then are newer.
    func lastTouch(of key: Int, at revision: Int64, origin: Int64 = 0) -> Int64 {
        let changed = lastChange(of: key, at: revision)
        let list = invalidated[key]
        guard let last = list.last, last > max(changed, origin) else { return changed }
        let place = last <= revision ? list.count : Self.count(in: list.count) { list[$0] <= revision }
        return place > 0 && list[place - 1] > origin ? max(changed, list[place - 1]) : changed
    }

    /// How many of the first ones the condition holds for.
    static func count(in total: Int, where holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, total)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
