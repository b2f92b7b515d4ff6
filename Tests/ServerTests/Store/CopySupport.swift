import FreshetServer
import FreshetWire

extension StoreFixture {
    private static let clients = ["phone", "tablet", "till"]

    /// Rows that a ``StoreScript`` does not make: names with owners, nonces, numbers that were left out, keys, and a value that is
    /// larger than a page.
    func addRareRows(again: Bool = false) throws {
        let namespace = namespace
        try store.transaction { transaction in
            let shop = try transaction.namespace(namespace)
            let till = try ClientIdentifier("till")
            let last = try shop.lastWrite(of: till)
            let leftOut = StoredOutcome(leavesOut: last + 1...last + 4)
            let applied = StoredOutcome(number: last + 5, verdict: .applied(Revision(1)), nonce: 77)
            try shop.keep(
                [leftOut, applied], of: till, owner: ClientOwner(text: "key:abc"), settled: 0, at: Timestamp(milliseconds: 86_400_000))
            try transaction.keep(AccessRow(.key, name: "k1", value: Array(#"{"name":"é"}"#.utf8)))
            try transaction.keep(AccessRow(.revocation, name: "token:a", value: []))
            try transaction.keep(AccessRow(.use, name: "k2", value: [1]))
            try transaction.remove(.use, named: "k2")
            _ = try transaction.raise(RetentionClock.Mark(time: 7_000, wall: 8_000))
        }
        // With more than 8 MiB, the stores would remove them after a drop in a different number of steps.
        for id in 1...3 {
            try write(
                "large/\(id)",
                .put(Content(bytes: [UInt8](repeating: UInt8(id), count: id == 1 ? 5 << 20 : 1 << 20), type: "application/octet-stream")))
        }
        try write("large/none", .put(Content(bytes: [], type: "text/plain")))
        try write("large/3", .delete)
        try invalidate(.collection("b", prefix: "é"), .key(RecordKey("large/1")))
    }

    /// Everything that clients and servers can learn from the store.
    func everything() throws -> [String] {
        var seen = ["\(store.identifier)"]
        var script = StoreScript(seed: 9)
        for _ in 1...5 { seen += try look(script.probe()) }
        // Those that no write has made have epochs too.
        for name in ["shop", "other"] + (1...20).map({ "unmade-\($0)" }) {
            let namespace = try Namespace(name)
            seen += ["\(try store.state(of: namespace))", "\(try store.counts(of: namespace))"]
            for client in try Self.clients.map({ try ClientIdentifier($0) }) {
                let owner = try store.owner(of: client, in: namespace)
                let outcomes = try store.transaction { try $0.namespace(namespace).outcomes(of: 1...10_000, by: client).outcomes }
                seen += ["\(try store.lastWrite(of: client, in: namespace))", "\(String(describing: owner))", "\(outcomes)"]
            }
        }
        return try seen + store.accessRows().map { "\($0)" } + ["\(store.totals())", "\(String(describing: store.retention().mark))"]
    }
}

/// An end whose rows lose something on their way into the store.
struct LossyEnd<End: StoreCopyEnd>: StoreCopyEnd {
    let end: End
    let loss: Loss

    enum Loss: CaseIterable {
        /// A row is not written.
        case row
        /// A byte of a value has changed.
        case value
        /// The disk fails in between.
        case failure
        /// The store gets another seed.
        case header
        /// Nothing is lost.
        case nothing
    }

    func withRows<Result>(_ body: (any StoredRows) throws -> Result) throws -> Result { try end.withRows(body) }

    func makingStore<Result>(_ header: StoreHeader, _ body: (any WritableRows) throws -> Result) throws -> Result {
        var header = header
        if loss == .header { header.seed += 1 }
        return try end.makingStore(header) { try body(LossyRows(rows: $0, loss: loss)) }
    }

    private struct LossyRows: WritableRows {
        let rows: any WritableRows
        let loss: Loss

        func header() throws -> StoreHeader { try rows.header() }
        func read(_ table: StoredTable, _ body: ([StoredRow]) throws -> Void) throws { try rows.read(table, body) }
        func checkUnchanged() throws { try rows.checkUnchanged() }

        func write(_ page: [StoredRow], to table: StoredTable) throws {
            var page = page
            if table == .record {
                switch loss {
                case .row: page.removeLast()
                case .value: page[0][page[0].count - 1] = .bytes([9])
                case .failure: throw StoreError.full(path: "disk")
                case .header, .nothing: break
                }
            }
            try rows.write(page, to: table)
        }
    }
}
