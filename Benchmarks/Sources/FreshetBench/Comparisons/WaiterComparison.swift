import Figures
import Glibc

/// Many long polls wait on one process; changes come at random moments, and each client must see each of them once, and in order.
struct WaiterComparison {
    let environment: BenchmarkEnvironment

    func measure() throws {
        for waiting in environment.isQuick ? [1_000] : [9_000, 18_000] {
            let server = try environment.freshFreshet()
            defer { server.stop() }
            let before = server.figures.memory
            var clients = try LoadClients(port: server.port, namespace: "waiters", waiting: waiting)
            defer { clients.leave() }
            let after = server.figures.memory
            // The pauses are random, so that changes also meet polls in transit.
            let report = try clients.run(port: server.port, seconds: environment.seconds(6), interval: .zero)
            environment.report(Figure("waiters-\(waiting)-memory-kib", ours: (after - before) * 1_024 / Double(waiting)))
            environment.report(Figure("waiters-\(waiting)-missed", ours: Double(report.missed + clients.disordered)))
        }
    }
}
