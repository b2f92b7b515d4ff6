import Figures
import Foundation
import FreshetClient

/// From `set` on one device to its observation on another, the server's fsync and both caches on disk included; beside Redis, from `SET` to
/// the invalidation that another connection is pushed; and beside a floor, which waits for both disks on the same way and computes nothing.
struct LatencyComparison {
    private struct Value: Codable, Sendable { var number: Int }

    let environment: BenchmarkEnvironment

    /// Writes a second.
    private static let rate = 100.0

    func measure() async throws {
        var ours: [[Double]] = []
        var redis: [[Double]] = []
        var floor: [[Double]] = []
        let writes = Int(environment.seconds(5) * Self.rate)
        for round in 0..<environment.rounds {
            let server = try environment.freshFreshet()
            defer { server.stop() }
            ours.append(try await devices("http://127.0.0.1:\(server.port)", "\(environment.folder)/devices-\(round)", writes))
            redis.append(try using(environment.redis(isDurable: true)) { try tracking($0, writes) })
            floor.append(try bare(writes))
        }
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            for (peer, theirs) in [("redis", redis), ("floor", floor)] {
                environment.report(
                    Figure(
                        "latency-\(name)-ms-vs-\(peer)", ours: ours.compactMap { Statistics.percentile(share, of: $0) },
                        peer: theirs.compactMap { Statistics.percentile(share, of: $0) }))
            }
        }
    }

    /// Milliseconds of each write.
    private func devices(_ url: String, _ folder: String, _ writes: Int) async throws -> [Double] {
        var configuration = SyncClient.Configuration(url: url, namespace: "latency", storage: .directory("\(folder)/a"))
        configuration.following = .cachedRecords
        let writer = try SyncClient(configuration)
        configuration.storage = .directory("\(folder)/b")
        let reader = try SyncClient(configuration)
        for client in [writer, reader] {
            try await client.start()
            try await client.waitUntilLive()
        }
        let source = writer.collection("numbers", of: Value.self)
        let target = reader.collection("numbers", of: Value.self)
        let arrivals = Task { () -> [ContinuousClock.Instant] in
            var arrivals: [ContinuousClock.Instant] = []
            for try await snapshot in target.snapshots(forKey: "x") {
                guard let number = snapshot.value?.number else { continue }
                // An observer keeps only the latest value, so one change may stand for several.
                while arrivals.count < min(number, writes) { arrivals.append(.now) }
                if number >= writes { break }
            }
            return arrivals
        }
        var departures: [ContinuousClock.Instant] = []
        let start = ContinuousClock.now
        for number in 1...writes {
            try await Task.sleep(until: start + .seconds(Double(number) / Self.rate), tolerance: .zero)
            departures.append(.now)
            try await source.setValue(Value(number: number), forKey: "x")
        }
        let latencies = zip(departures, try await arrivals.value).map { $0.duration(to: $1) / .milliseconds(1) }
        await writer.stop()
        await reader.stop()
        return latencies
    }

    private func bare(_ writes: Int) throws -> [Double] {
        let text = try environment.output(of: [environment.latencyFloor, environment.folder, "\(writes)", "\(Self.rate)"])
        let latencies = text.split(separator: "\n").compactMap { Double($0) }
        guard latencies.count == writes else { throw BenchError.noFigure("the floor of latency", text) }
        return latencies
    }

    private func tracking(_ server: RunningServer, _ writes: Int) throws -> [Double] {
        var listener = try TextConnection(port: server.port)
        var writer = try TextConnection(port: server.port)
        defer {
            listener.close()
            writer.close()
        }
        try listener.send("HELLO 3\r\n")
        try listener.read(until: "modules")
        try listener.send("CLIENT TRACKING ON BCAST PREFIX rec:\r\n")
        try listener.read(until: "+OK")
        let value = String(repeating: "x", count: 12)
        let start = ContinuousClock.now
        return try (1...writes).map { number in
            while case let rest = ContinuousClock.now.duration(to: start + .seconds(Double(number) / Self.rate)), rest > .zero {
                usleep(UInt32(rest / .microseconds(1)))
            }
            let departure = ContinuousClock.now
            try writer.send("SET rec:1 \(value)\r\n")
            try listener.read(until: "rec:1\r\n")
            let latency = departure.duration(to: .now) / .milliseconds(1)
            try writer.read(until: "+OK")
            return latency
        }
    }
}
