/// The rows of a store that nothing else changes meanwhile.
package protocol StoredRows {
    func header() throws -> StoreHeader

    /// Calls the closure with the rows of a table in the order of their keys, in pages that ``StorePages`` bounds.
    func read(_ table: StoredTable, _ body: ([StoredRow]) throws -> Void) throws

    /// Throws if something may have changed the rows since the start.
    func checkUnchanged() throws
}

/// The rows of a store that is being made. Nothing of them is kept unless the closure that makes them returns.
package protocol WritableRows: StoredRows {
    func write(_ rows: [StoredRow], to table: StoredTable) throws
}

/// One end of a copy: a place that has a store, or that is to get one.
package protocol StoreCopyEnd {
    /// Runs the closure with the rows of the store. Nothing else can change them before it returns.
    ///
    /// - Throws: ``StoreError``: there is no store, or a server uses it.
    func withRows<Result>(_ body: (any StoredRows) throws -> Result) throws -> Result

    /// Runs the closure with an empty store of this header, and keeps what it has written if it returns.
    ///
    /// - Throws: ``StoreError``: there is a store that is not empty, or a server uses it. Then, and if the closure throws, nothing
    ///   is kept.
    func makingStore<Result>(_ header: StoreHeader, _ body: (any WritableRows) throws -> Result) throws -> Result
}

/// A part of a copy.
package enum StoreCopyStep: Sendable {
    case copying
    case comparing
}

/// Copies a store into another one, of whatever kind: docs/decisions/0068-copied-stores.md.
package enum StoreCopy {
    /// Copies, and compares the rows of both ends before anything is kept.
    ///
    /// Blocks on disks and the network. Memory is bounded by two pages, and some bytes for each namespace.
    ///
    /// - Parameter progress: called after each page with the number of rows that the step has done, of all tables.
    /// - Returns: the sizes of the tables, and the digests.
    package static func run(
        from source: some StoreCopyEnd, to target: some StoreCopyEnd, progress: (StoreCopyStep, Int) -> Void = { _, _ in }
    ) throws -> StoreSummary {
        try source.withRows { rows in
            let header = try rows.header()
            return try target.makingStore(header) { copy in
                var read = StoreSummary()
                for table in StoredTable.allCases {
                    try rows.read(table) { page in
                        for row in page { read.add(row, of: table) }
                        try copy.write(page, to: table)
                        progress(.copying, read.rows)
                    }
                }
                try compare(read, header, with: copy) { progress(.comparing, $0) }
                try rows.checkUnchanged()
                return read
            }
        }
    }

    private static func compare(
        _ read: StoreSummary, _ header: StoreHeader, with copy: any WritableRows, progress: (Int) -> Void
    ) throws {
        var written = StoreSummary()
        for table in StoredTable.allCases {
            try copy.read(table) { page in
                for row in page { written.add(row, of: table) }
                progress(written.rows)
            }
        }
        var found = try copy.header()
        // Not every store keeps it.
        found.access = header.access
        if found != header { throw StoreDifference(reason: "it has another identifier, or other epochs") }
        if let reason = written.difference(from: read) { throw StoreDifference(reason: reason) }
    }
}

/// The rows of the two ends differ. The target adds its name: ``StoreError/copyDiffers(path:reason:)``.
package struct StoreDifference: Error {
    package let reason: String
}

/// Divides rows into pages.
package struct StorePages {
    /// The most rows of a page.
    package static let rows = 1_000
    /// The most bytes of a page; the first row comes whatever its size.
    package static let bytes = 4 << 20

    private var page: [StoredRow] = []
    private var bytes = 0

    package init() {}

    /// Adds a row. Calls the closure with the rows before, if this one does not go with them.
    package mutating func add(_ row: StoredRow, _ body: ([StoredRow]) throws -> Void) rethrows {
        let size = row.reduce(0) { $0 + $1.byteCount }
        if page.count == Self.rows || bytes + size > Self.bytes { try finish(body) }
        page.append(row)
        bytes += size
    }

    /// Calls the closure with the rows that remain.
    package mutating func finish(_ body: ([StoredRow]) throws -> Void) rethrows {
        guard !page.isEmpty else { return }
        try body(page)
        page.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
