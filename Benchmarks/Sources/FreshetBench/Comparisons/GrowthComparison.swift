import Figures
import Foundation

/// How writes, the feed and memory change as records and waiting clients increase; and how soon a server with many
/// records is ready.
struct GrowthComparison {
    let environment: BenchmarkEnvironment
    let filling: Filling

    func measure() throws {
        let server = try filling.server(records: 1)
        defer { server.stop() }
        var records = 1_000
        while records <= environment.records {
            try filling.grow(server, to: records)
            let rate = try WriteComparison.puts(environment, server, keys: records, seconds: environment.seconds(2))
            let latencies = try feed(server)
            environment.report(Figure("growth-records-\(records)-writes-per-s", ours: rate))
            environment.report(Figure("growth-records-\(records)-feed-ms", ours: latencies))
            environment.report(Figure("growth-records-\(records)-memory-mib", ours: server.figures.memory))
            records *= 10
        }
        try waiters()
    }

    /// Milliseconds from a `PUT` to the answer of the one poll that waits.
    private func feed(_ server: RunningServer) throws -> [Double] {
        var clients = try LoadClients(port: server.port, namespace: "bench", waiting: 1)
        defer { clients.leave() }
        return try clients.run(port: server.port, seconds: environment.seconds(1), interval: .milliseconds(2)).latencies.map { $0 * 1_000 }
    }

    private func waiters() throws {
        for waiting in environment.isQuick ? [1, 10, 100, 1_000] : [1, 10, 100, 1_000, 3_000, 9_000] {
            let server = try environment.freshFreshet()
            defer { server.stop() }
            var clients = try LoadClients(port: server.port, namespace: "bench", waiting: waiting)
            defer { clients.leave() }
            let report = try clients.run(port: server.port, seconds: environment.seconds(2), interval: .milliseconds(2))
            environment.report(Figure("growth-waiters-\(waiting)-feed-ms", ours: report.latencies.map { $0 * 1_000 }))
            environment.report(Figure("growth-waiters-\(waiting)-memory-mib", ours: server.figures.memory))
            let rate = try WriteComparison.puts(environment, server, keys: 1_000, seconds: environment.seconds(2))
            environment.report(Figure("growth-waiters-\(waiting)-writes-per-s", ours: rate))
        }
    }

    /// Milliseconds from the start of the program to the line that reports that it is ready; the files are in the
    /// system's cache.
    func coldStart() throws {
        let server = try filling.server(records: environment.records)
        server.stop()
        var stopped: [Double] = []
        var killed: [Double] = []
        for _ in 0..<max(3, environment.rounds) {
            var start = ContinuousClock.now
            let first = try environment.freshet(Filling.folder)
            stopped.append(start.duration(to: .now) / .milliseconds(1))
            // Gives the start something to recover: writes that are in the log and not yet in the database.
            var load = try BatchLoad(
                port: first.port, namespace: "bench", connections: 4, batch: 100, records: 1_000, bytes: 100,
                run: "kill-\(first.identifier)")
            _ = try load.run(seconds: 0.5)
            first.kill()
            start = .now
            let second = try environment.freshet(Filling.folder)
            killed.append(start.duration(to: .now) / .milliseconds(1))
            second.stop()
        }
        environment.report(Figure("cold-start-\(environment.records)-ms", ours: stopped))
        environment.report(Figure("cold-start-killed-\(environment.records)-ms", ours: killed))
    }
}
