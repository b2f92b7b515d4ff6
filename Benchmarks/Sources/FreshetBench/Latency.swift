import ArgumentParser
import FreshetClient

/// From `set` on one device to its observation on another, the server's `fsync` and both caches on disk included.
struct Latency: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Milliseconds from A's set to B's observation.")

    struct Value: Codable, Sendable { var number: Int }

    @Option var port: UInt16
    @Option(help: "A folder for the two caches.") var directory: String
    @Option var writes = 1_000
    @Option(help: "Writes per second.") var rate = 100

    func run() async throws {
        let url = "http://127.0.0.1:\(port)"
        let writer = try SyncClient(url: url, namespace: "latency", storage: .directory("\(directory)/a"))
        let reader = try SyncClient(url: url, namespace: "latency", storage: .directory("\(directory)/b"))
        for client in [writer, reader] {
            try await client.start()
            try await client.live()
        }
        let source = writer.collection("numbers", of: Value.self)
        let target = reader.collection("numbers", of: Value.self)

        let arrivals = Task { () -> [ContinuousClock.Instant] in
            var arrivals: [ContinuousClock.Instant] = []
            for try await snapshot in target.snapshots(of: "x") {
                guard let number = snapshot.value?.number else { continue }
                // Only the latest value is kept for an observer, so one change may stand for several.
                while arrivals.count < min(number, writes) { arrivals.append(.now) }
                if number >= writes { break }
            }
            return arrivals
        }
        var departures: [ContinuousClock.Instant] = []
        let start = ContinuousClock.now
        for number in 1...writes {
            try await Task.sleep(until: start + .seconds(Double(number) / Double(rate)), tolerance: .zero)
            departures.append(.now)
            try await source.set(Value(number: number), for: "x")
        }
        let latencies = zip(departures, try await arrivals.value).map { $0.duration(to: $1) }.sorted()
        print("set-to-observation-p50 \(milliseconds(latencies[latencies.count / 2])) ms")
        print("set-to-observation-p99 \(milliseconds(latencies[latencies.count * 99 / 100])) ms")
        await writer.stop()
        await reader.stop()
    }
}
