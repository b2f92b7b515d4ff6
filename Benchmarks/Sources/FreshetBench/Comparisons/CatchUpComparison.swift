import Figures
import Foundation
import FreshetClient

/// A new device stores all records in its disk tier; then a batch of 1,000 changes arrives.
struct CatchUpComparison {
    private struct Value: Codable, Sendable { var pad: String }

    let environment: BenchmarkEnvironment
    let filling: Filling

    func measure() async throws {
        let records = min(environment.records, 1_000_000)
        let server = try filling.server(records: records)
        defer { server.stop() }
        var rates: [Double] = []
        var growths: [Double] = []
        var applies: [Double] = []
        for round in 0..<environment.rounds {
            try server.figures.forgetPeak()
            let before = server.figures.memory
            var configuration = SyncClient.Configuration(
                url: "http://127.0.0.1:\(server.port)", namespace: "bench", storage: .directory("\(environment.folder)/new-\(round)"))
            configuration.following = .everything
            configuration.collections = ["load"]
            let device = try SyncClient(configuration)
            let start = ContinuousClock.now
            try await device.start()
            try await device.waitUntilLive()
            rates.append(Double(records) / (start.duration(to: .now) / .seconds(1)))
            growths.append(server.figures.peak - before)
            let collection = device.collection("load", of: Value.self)
            // The device reports that it is live: check that the last record is there.
            guard try await collection.value(forKey: "\(records - 1)") != nil else { throw BenchError.missing("the device lacks records") }
            for number in 1...5 { applies.append(try await apply(collection, server, round * 5 + number)) }
            await device.stop()
            try? FileManager.default.removeItem(atPath: "\(environment.folder)/new-\(round)")
        }
        environment.report(Figure("catch-up-\(records)-records-per-s", ours: rates))
        environment.report(Figure("catch-up-\(records)-server-memory-mib", ours: growths))
        environment.report(Figure("catch-up-batch-1000-ms", ours: applies))
    }

    /// Milliseconds from the moment at which another waiting client has the batch's changes to the observation of the
    /// last one on the device.
    private func apply(_ collection: SyncedCollection<Value>, _ server: RunningServer, _ number: Int) async throws -> Double {
        let mark = "batch \(number)"
        let seen = Task { () -> ContinuousClock.Instant in
            for try await snapshot in collection.snapshots(forKey: "999") where snapshot.value?.pad == mark { return .now }
            throw BenchError.missing("the device's observation ended")
        }
        var publisher = try Connection(port: server.port)
        try publisher.ask(HTTPRequest.get("/v1/bench/changes?since=now"))
        guard let cursor = publisher.field("Freshet-Cursor") else { throw LoadError.noCursor }
        var waiter = try Connection(port: server.port)
        try waiter.send(HTTPRequest.get("/v1/bench/changes?since=\(cursor)&wait=60&collection=load"))
        let pad = mark.padding(toLength: 90, withPad: ".", startingAt: 0)
        let writes = (0..<1_000).map { index in
            #"{"number":\#(index + 1),"op":"put","key":"load/\#(index)","value":{"pad":"\#(index == 999 ? mark : pad)"}}"#
        }
        let body = #"{"client":"batch-\#(number)","writes":[\#(writes.joined(separator: ","))]}"#
        try publisher.ask(HTTPRequest.post("/v1/bench/writes", Array(body.utf8)))
        var scratch = [UInt8](repeating: 0, count: 1 << 16)
        while try waiter.receive(into: &scratch) == nil {}
        let received = ContinuousClock.now
        close(publisher.descriptor)
        close(waiter.descriptor)
        return max(0, received.duration(to: try await seen.value) / .milliseconds(1))
    }
}
