import Figures
import Foundation

/// How writes, the feed and memory change as records and waiting clients increase; and how soon a server with many
/// records is ready.
struct GrowthComparison {
    let workshop: Workshop
    let filling: Filling

    func measure() throws {
        let server = try filling.server(records: 1)
        defer { server.stop() }
        var records = 1_000
        while records <= workshop.records {
            try filling.grow(server, to: records)
            let rate = try WriteComparison.puts(workshop, server, keys: records, seconds: workshop.seconds(2))
            let latencies = try feed(server)
            workshop.report(Figure("growth-records-\(records)-writes-per-s", ours: rate))
            workshop.report(Figure("growth-records-\(records)-feed-ms", ours: latencies))
            workshop.report(Figure("growth-records-\(records)-memory-mib", ours: server.figures.memory))
            records *= 10
        }
        try waiters()
    }

    /// Milliseconds from a `PUT` to the answer of the one poll that waits.
    private func feed(_ server: RunningServer) throws -> [Double] {
        var crowd = try Crowd(port: server.port, namespace: "bench", waiting: 1)
        defer { crowd.leave() }
        return try crowd.run(port: server.port, seconds: workshop.seconds(1), interval: .milliseconds(2)).latencies.map { $0 * 1_000 }
    }

    private func waiters() throws {
        for waiting in workshop.isQuick ? [1, 10, 100, 1_000] : [1, 10, 100, 1_000, 3_000, 9_000] {
            let server = try workshop.freshFreshet()
            defer { server.stop() }
            var crowd = try Crowd(port: server.port, namespace: "bench", waiting: waiting)
            defer { crowd.leave() }
            let report = try crowd.run(port: server.port, seconds: workshop.seconds(2), interval: .milliseconds(2))
            workshop.report(Figure("growth-waiters-\(waiting)-feed-ms", ours: report.latencies.map { $0 * 1_000 }))
            workshop.report(Figure("growth-waiters-\(waiting)-memory-mib", ours: server.figures.memory))
            let rate = try WriteComparison.puts(workshop, server, keys: 1_000, seconds: workshop.seconds(2))
            workshop.report(Figure("growth-waiters-\(waiting)-writes-per-s", ours: rate))
        }
    }

    /// Milliseconds from the start of the program to the line that reports that it is ready; the files are in the
    /// system's cache.
    func coldStart() throws {
        let server = try filling.server(records: workshop.records)
        server.stop()
        var stopped: [Double] = []
        var killed: [Double] = []
        for _ in 0..<max(3, workshop.rounds) {
            var start = ContinuousClock.now
            let first = try workshop.freshet(Filling.folder)
            stopped.append(start.duration(to: .now) / .milliseconds(1))
            // Gives the start something to recover: writes that are in the log and not yet in the database.
            var load = try BatchLoad(
                port: first.port, namespace: "bench", connections: 4, batch: 100, records: 1_000, bytes: 100,
                run: "kill-\(first.identifier)")
            _ = try load.run(seconds: 0.5)
            first.kill()
            start = .now
            let second = try workshop.freshet(Filling.folder)
            killed.append(start.duration(to: .now) / .milliseconds(1))
            second.stop()
        }
        workshop.report(Figure("cold-start-\(workshop.records)-ms", ours: stopped))
        workshop.report(Figure("cold-start-killed-\(workshop.records)-ms", ours: killed))
    }
}
