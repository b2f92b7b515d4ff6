import Foundation

/// A server's folder with many records of 100 bytes in the collection `load` of the namespace `bench`, made once in a run.
final class Filling {
    private let environment: BenchmarkEnvironment
    /// The number of records in the folder.
    private var count = 0

    static let folder = "filled"

    init(_ environment: BenchmarkEnvironment) { self.environment = environment }

    /// Starts the server with at least `records` records in it.
    func server(records: Int) throws -> RunningServer {
        let server = count == 0 ? try environment.freshFreshet(Self.folder) : try environment.freshet(Self.folder)
        try grow(server, to: records)
        return server
    }

    /// Adds the missing records.
    func grow(_ server: RunningServer, to records: Int) throws {
        guard records > count else { return }
        var load = try BatchLoad(
            port: server.port, namespace: "bench", connections: 4, batch: 1_000, records: .max, bytes: 100, first: count,
            run: "fill-\(count)")
        try load.fill(to: records)
        count = records
    }
}
