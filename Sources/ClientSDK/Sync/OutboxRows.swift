import FreshetWire

/// The writes of one key, in the order of their numbers, and of their ids where these are the same.
///
/// A plan changes a copy while the original is the state on disk. Copies share the rows that they have in common: a
/// change copies one chunk of at most 64 rows and a reference to each other chunk, and ``changes(since:)`` skips the
/// chunks that two lists share. An array would be copied and compared whole for each write of a record: 6,000 writes
/// of one record took 32 s.
struct OutboxRows: Sendable {
    /// How many rows are of each kind.
    struct Counts: Hashable, Sendable {
        /// Those without an outcome.
        fileprivate(set) var pending = 0
        /// Those that the user's closure is to merge.
        fileprivate(set) var merging = 0
        /// Those that wait for an earlier write to be merged.
        fileprivate(set) var held = 0
        /// Those that are to be sent under another name of the device.
        fileprivate(set) var displaced = 0
        /// Those that were applied at a known revision, and wait for the record.
        fileprivate(set) var applied = 0
        /// Those that were decided at an unknown revision, and wait for the record.
        fileprivate(set) var settled = 0
        /// Those whose precondition is the verdict on an earlier write.
        fileprivate(set) var following = 0

        fileprivate mutating func count(_ row: OutboxRow, by step: Int = 1) {
            switch row.state {
            case .pending: break
            case .held: held += step
            case .merging: merging += step
            case .applied: applied += step
            case .settled: settled += step
            }
            if row.isPending { pending += step }
            if row.isDisplaced { displaced += step }
            if case .after = row.precondition { following += step }
        }
    }

    /// Some adjacent rows. Immutable, so a chunk that two lists share is the same in both.
    private final class Chunk: Sendable {
        static let capacity = 64
        let rows: [OutboxRow]

        init(_ rows: [OutboxRow]) { self.rows = rows }
    }

    /// A place in the list.
    struct Index: Comparable, Sendable {
        fileprivate var chunk: Int
        fileprivate var offset: Int

        static func < (left: Self, right: Self) -> Bool { (left.chunk, left.offset) < (right.chunk, right.offset) }
    }

    /// None is empty.
    private var chunks: [Chunk] = []
    private(set) var counts = Counts()
    private(set) var count = 0

    /// - Parameter rows: in the order of the list. O(rows).
    init(_ rows: [OutboxRow] = []) {
        var rest = rows[...]
        while !rest.isEmpty {
            chunks.append(Chunk(Array(rest.prefix(Chunk.capacity))))
            rest = rest.dropFirst(Chunk.capacity)
        }
        count = rows.count
        for row in rows { counts.count(row) }
    }

    /// Returns the place of the write with this number and id. O(log rows).
    func index(number: Int64, writeID: LocalWriteID) -> Index? {
        func isBefore(_ row: OutboxRow) -> Bool { (row.number, row.writeID) < (number, writeID) }
        let chunk = chunks.partitioningIndex { !isBefore($0.rows[$0.rows.count - 1]) }
        guard chunk < chunks.count else { return nil }
        let offset = chunks[chunk].rows.partitioningIndex { !isBefore($0) }
        guard offset < chunks[chunk].rows.count else { return nil }
        let found = chunks[chunk].rows[offset]
        guard found.number == number, found.writeID == writeID else { return nil }
        return Index(chunk: chunk, offset: offset)
    }

    /// Returns the write with this number and id. O(log rows).
    func row(number: Int64, writeID: LocalWriteID) -> OutboxRow? { index(number: number, writeID: writeID).map { self[$0] } }

    // MARK: Changes

    /// Adds a row at the end. O(64 + rows / 64).
    mutating func append(_ row: OutboxRow) { insert(row, at: endIndex) }

    /// Inserts a row before the place. O(64 + rows / 64).
    mutating func insert(_ row: OutboxRow, at index: Index) {
        counts.count(row)
        count += 1
        if index == endIndex {
            if let last = chunks.last, last.rows.count < Chunk.capacity {
                chunks[chunks.count - 1] = Chunk(last.rows + [row])
            } else {
                chunks.append(Chunk([row]))
            }
            return
        }
        var rows = chunks[index.chunk].rows
        rows.insert(row, at: index.offset)
        let half = rows.count > Chunk.capacity ? rows.count / 2 : rows.count
        let parts = [rows[..<half], rows[half...]].filter { !$0.isEmpty }
        chunks.replaceSubrange(index.chunk...index.chunk, with: parts.map { Chunk(Array($0)) })
    }

    /// Removes and returns the row at the place. Other places become invalid. O(64 + rows / 64).
    @discardableResult
    mutating func remove(at index: Index) -> OutboxRow {
        var rows = chunks[index.chunk].rows
        let row = rows.remove(at: index.offset)
        counts.count(row, by: -1)
        count -= 1
        if rows.isEmpty { chunks.remove(at: index.chunk) } else { chunks[index.chunk] = Chunk(rows) }
        return row
    }

    /// Removes the rows for which the closure returns true, and returns their ids, in order. O(rows).
    @discardableResult
    mutating func removeAll(where condition: (OutboxRow) -> Bool) -> [LocalWriteID] {
        var removed: [LocalWriteID] = []
        var left: [Chunk] = []
        for chunk in chunks {
            let rows = chunk.rows.filter { row in
                guard condition(row) else { return true }
                removed.append(row.writeID)
                counts.count(row, by: -1)
                return false
            }
            if rows.count == chunk.rows.count { left.append(chunk) } else if !rows.isEmpty { left.append(Chunk(rows)) }
        }
        count -= removed.count
        chunks = left
        return removed
    }

    /// Restores the order after numbers have changed. O(rows log rows).
    mutating func sort() { self = OutboxRows(sorted { ($0.number, $0.writeID) < ($1.number, $1.writeID) }) }

    // MARK: Differences

    /// Returns the rows of both lists, in order, without those in chunks that the lists share. O(rows / 64 + rows that
    /// differ).
    func changes(since old: OutboxRows) -> (before: [OutboxRow], after: [OutboxRow]) {
        var (first, end) = (0, 0)
        let common = Swift.min(chunks.count, old.chunks.count)
        while first < common, chunks[first] === old.chunks[first] { first += 1 }
        while first + end < common, chunks[chunks.count - 1 - end] === old.chunks[old.chunks.count - 1 - end] { end += 1 }
        return (old.chunks[first..<old.chunks.count - end].flatMap(\.rows), chunks[first..<chunks.count - end].flatMap(\.rows))
    }
}

extension OutboxRows: BidirectionalCollection {
    var startIndex: Index { Index(chunk: 0, offset: 0) }
    var endIndex: Index { Index(chunk: chunks.count, offset: 0) }
    var isEmpty: Bool { chunks.isEmpty }

    func index(after index: Index) -> Index {
        let next = index.offset + 1
        return next < chunks[index.chunk].rows.count ? Index(chunk: index.chunk, offset: next) : Index(chunk: index.chunk + 1, offset: 0)
    }

    func index(before index: Index) -> Index {
        index.offset > 0
            ? Index(chunk: index.chunk, offset: index.offset - 1)
            : Index(chunk: index.chunk - 1, offset: chunks[index.chunk - 1].rows.count - 1)
    }

    /// The row at the place. Setting it copies its chunk; its number and id must keep the order.
    subscript(index: Index) -> OutboxRow {
        get { chunks[index.chunk].rows[index.offset] }
        set {
            var rows = chunks[index.chunk].rows
            counts.count(rows[index.offset], by: -1)
            counts.count(newValue)
            rows[index.offset] = newValue
            chunks[index.chunk] = Chunk(rows)
        }
    }
}

extension OutboxRows: Hashable {
    static func == (left: Self, right: Self) -> Bool { left.count == right.count && left.elementsEqual(right) }

    func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for row in self { hasher.combine(row) }
    }
}

extension Array {
    /// Returns the first index for which the closure returns true, provided that it does so for all later ones too.
    /// O(log n).
    fileprivate func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
