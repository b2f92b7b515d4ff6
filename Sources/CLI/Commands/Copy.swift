import ArgumentParser
import FreshetServer

/// `freshet copy`: a store in another place, for the same clients.
struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store: from a data directory to PostgreSQL, back, or between two of a kind.",
        discussion: """
            Copies everything that a server keeps: records, deletes, invalidations, clients with their numbers and outcomes, keys and
            revocations, epochs, and which store it is. So clients go on with their positions and their unsent writes.

            Stop all servers of both stores beforehand: a copy of a store that a server uses is refused. The target has to be empty. It
            gets everything, compared with the source, or stays empty. Start no server over the source again.

            EXAMPLES
              freshet copy --from ./freshet-data --to postgres://freshet@db.example/freshet
              freshet copy --from postgres://freshet@db.example/freshet --to ./freshet-data
            """)

    @Option(
        help: ArgumentHelp("The store to copy: a data directory, or postgres://USER@HOST:PORT/DATABASE.", valueName: "store"),
        completion: .directory)
    var from: String
    @Option(
        help: ArgumentHelp("Where to: a data directory, which may be missing, or a database. Either has to be empty.", valueName: "store"),
        completion: .directory)
    var to: String

    func validate() throws {
        guard !from.isEmpty, !to.isEmpty else { throw ValidationError("--from and --to take a data directory or a URI, and one is empty") }
        guard !from.leadsToSameFile(as: to) else { throw ValidationError("--from and --to name the same store") }
    }

    func run() throws {
        let (source, target) = (try Self.end(from), try Self.end(to))
        let copied: StoreSummary
        let (copying, comparing) = (
            ProgressLine(unit: "rows copied", total: nil, isOn: true), ProgressLine(unit: "rows compared", total: nil, isOn: true)
        )
        defer { copying.end() }
        do {
            copied = try StoreCopy.run(from: source, to: target) { step, rows in (step == .copying ? copying : comparing).draw(rows) }
        } catch let error as StoreError { throw Self.failure(error) }
        for table in StoredTable.allCases {
            let size = copied.size(of: table)
            StandardStream.output.printLine("\(table.rawValue) \(size.rows) rows, \(size.bytes) bytes")
        }
        StandardStream.output.printLine("copied: counts, identity and a digest of each namespace are the same in both stores")
    }

    private static func end(_ text: String) throws(CommandFailure) -> any StoreCopyEnd {
        guard !text.contains("://") else { return try StoreLocation(text).copyEnd() }
        do throws(StoreError) { return try SQLiteCopyEnd(directory: text) } catch { throw CommandFailure(error) }
    }

    private static func failure(_ error: StoreError) -> CommandFailure {
        guard case .inUse(let path) = error else { return CommandFailure(error) }
        return CommandFailure(
            .unavailable,
            "A server or another copy has \(path) open, and a copy must not miss its writes. Stop it with SIGTERM, which completes them, then copy."
        )
    }
}
