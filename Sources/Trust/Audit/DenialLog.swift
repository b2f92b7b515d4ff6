/// The refusals of a server, grouped: a flood of one kind from one client is one entry with a count, and two lines of the
/// audit log in a minute.
///
/// Bounded: by the number of groups of the current minute, beyond which all refusals of an event are one group, and by the
/// number of groups that are kept. Each operation is O(1) on average.
package struct DenialLog: Sendable {
    /// How long a group lasts, in milliseconds.
    package static let window: Int64 = 60_000
    /// The most groups that are kept.
    package static let maximumCount = 1_000
    /// The most groups that are open at once, besides one for each event.
    static let maximumOpen = 1_024

    /// What the refusals of a group have in common.
    package struct Group: Hashable, Sendable {
        package let event: AuditEvent
        /// The client: an address, that of an IPv6 network of 64 bits, or a principal.
        let source: String
        let reason: String

        package init(_ event: AuditEvent, of source: String, reason: String) {
            (self.event, self.source, self.reason) = (event, source, reason)
        }
    }

    /// Refusals of one group.
    package struct Entry: Hashable, Sendable {
        /// The first refusal.
        package let record: AuditRecord
        /// The number of all.
        package fileprivate(set) var count = 1
        /// The time of the last one, in milliseconds since 1970.
        package fileprivate(set) var last: Int64
    }

    private var open: [Group: Entry] = [:]
    /// The open groups in the order of their ends, which are monotonic.
    private var order: [(group: Group, end: Int64)] = []
    private var first = 0
    /// The groups that have ended: a ring, once it is full.
    private var ended: [Entry] = []
    private var oldest = 0

    package init() {}

    /// Notes a refusal.
    ///
    /// - Parameter make: makes the record; called only for the first one of a group.
    /// - Returns: the records to write: those of groups that have ended, and the first one of a group.
    package mutating func note(_ group: Group, at now: TimeReading, _ make: () -> AuditRecord) -> [AuditRecord] {
        let lines = endGroups(at: now.monotonic)
        if count(group, at: now) { return lines }
        guard open.count >= Self.maximumOpen else { return lines + [begin(group, make(), at: now)] }
        let rest = Group(group.event, of: "", reason: "")
        if count(rest, at: now) { return lines }
        // One record for refusals of many clients names none of them.
        var record = AuditRecord(group.event, time: now.wall)
        record.detail = "of many clients, each of whose refusals is not listed"
        return lines + [begin(rest, record, at: now)]
    }

    /// Ends the groups whose time has come.
    ///
    /// - Returns: the records to write: of each group the number of refusals after the first one, if there were any.
    package mutating func endGroups(at now: Int64) -> [AuditRecord] {
        var lines: [AuditRecord] = []
        while first < order.count, order[first].end <= now {
            if let entry = open.removeValue(forKey: order[first].group) {
                keep(entry)
                if let line = entry.summary { lines.append(line) }
            }
            first += 1
        }
        if first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
        return lines
    }

    /// The groups that are open and those that have ended, the latest first; at most ``maximumCount``. O(n log n).
    package var latest: [Entry] {
        Array((ended + open.values).sorted { $0.last > $1.last }.prefix(Self.maximumCount))
    }

    private mutating func count(_ group: Group, at now: TimeReading) -> Bool {
        guard let place = open.index(forKey: group) else { return false }
        open.values[place].count += 1
        open.values[place].last = now.wall
        return true
    }

    private mutating func begin(_ group: Group, _ record: AuditRecord, at now: TimeReading) -> AuditRecord {
        open[group] = Entry(record: record, last: now.wall)
        order.append((group, now.monotonic + Self.window))
        return record
    }

    private mutating func keep(_ entry: Entry) {
        guard ended.count == Self.maximumCount else { return ended.append(entry) }
        ended[oldest] = entry
        oldest = (oldest + 1) % Self.maximumCount
    }
}

extension DenialLog.Entry {
    /// The record of the refusals after the first one; `nil` if there were none.
    fileprivate var summary: AuditRecord? {
        guard count > 1 else { return nil }
        var summary = record
        (summary.time, summary.count) = (last, count - 1)
        return summary
    }
}
