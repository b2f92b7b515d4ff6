import Figures
import Glibc

/// Many long polls wait on one process; changes come at random moments, and each client must see each of them once, and in order.
struct WaiterComparison {
    let workshop: Workshop

    func measure() throws {
        for waiting in workshop.isQuick ? [1_000] : [9_000, 18_000] {
            let server = try workshop.freshFreshet()
            defer { server.stop() }
            let before = server.figures.memory
            var crowd = try Crowd(port: server.port, namespace: "waiters", waiting: waiting)
            defer { crowd.leave() }
            let after = server.figures.memory
            // The pauses are random, so that changes also meet polls in transit.
            let report = try crowd.run(port: server.port, seconds: workshop.seconds(6), interval: .zero)
            workshop.report(Figure("waiters-\(waiting)-memory-kib", ours: (after - before) * 1_024 / Double(waiting)))
            workshop.report(Figure("waiters-\(waiting)-missed", ours: Double(report.missed + crowd.disordered)))
        }
    }
}
