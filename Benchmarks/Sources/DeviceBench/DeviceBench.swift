import Foundation
import FreshetClient
import FreshetTestKit

/// The cost of many waiting writes and large collections on a device: `swift run -c release --package-path Benchmarks DeviceBench [WRITES [RECORDS]]`.
@main
struct DeviceBench {
    private struct Item: Codable, Sendable { var n: Int }

    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-device-bench-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let writes = numbers.first ?? 10_000
        for count in [writes / 4, writes] {
            try await increments(count, inOrder: true, "\(folder)/ordered-\(count)")
            try await increments(count, inOrder: false, "\(folder)/together-\(count)")
        }
        try await drain(writes, "\(folder)/drain")
        for count in [numbers.dropFirst().first ?? 100_000] { try await collection(count) }
    }

    private static func say(_ name: String, _ duration: Duration, _ unit: String = "ms") {
        print("\(name) \((duration / .milliseconds(1)).formatted(.number.precision(.fractionLength(2)))) \(unit)")
    }

    /// Increments of one record without a server, one awaited after the other or all at once; then the start of the next process.
    private static func increments(_ count: Int, inOrder: Bool, _ directory: String) async throws {
        let name = inOrder ? "one after the other" : "at once"
        var configuration = SyncClient.Configuration(url: "http://127.0.0.1:9", namespace: "bench", storage: .directory(directory))
        configuration.following = .everything
        let client = try SyncClient(configuration)
        try await client.start()
        let items = client.collection("items", of: Item.self)
        try await items.setValue(Item(n: 0), forKey: "one")
        let duration = try await ContinuousClock().measure {
            if inOrder {
                for _ in 1...count { try await items.increment("/n", of: "one") }
            } else {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 1...count { group.addTask { try await items.increment("/n", of: "one") } }
                    try await group.waitForAll()
                }
            }
        }
        say("\(count) increments of one record, \(name)", duration)
        guard try await items.value(forKey: "one", policy: .cacheOnly)?.n == count else { throw LoadError.wrongSum }
        await client.stop()
        let next = try SyncClient(configuration)
        say("start() with them waiting", try await ContinuousClock().measure { try await next.start() })
        await next.stop()
    }

    /// The same with a server that is reached when all have been made.
    private static func drain(_ count: Int, _ directory: String) async throws {
        let kit = try TestKit()
        let device = try await kit.device("bench")
        let items = device.collection("items", of: Item.self)
        try await items.setValue(Item(n: 0), forKey: "one")
        try await device.client.waitUntilDrained()
        let duration = try await ContinuousClock().measure {
            for _ in 1...count { try await items.increment("/n", of: "one") }
            try await device.client.waitUntilDrained()
        }
        say("\(count) increments of one record, sent meanwhile, all decided", duration)
        try await kit.waitUntilIdle(within: .seconds(60))
        guard try await kit.backend("items", of: Item.self).value(forKey: "one")?.n == count else { throw LoadError.wrongSum }
        await kit.close()
    }

    /// From a backend's write to the observer of a collection with this many records, by change sets and by arrays.
    private static func collection(_ count: Int) async throws {
        let kit = try TestKit()
        let device = try await kit.device("bench")
        let backend = kit.backend("items", of: Item.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<16 {
                group.addTask {
                    for n in stride(from: worker, to: count, by: 16) { _ = try await backend.setValue(Item(n: n), forKey: "\(n)") }
                }
            }
            try await group.waitForAll()
        }
        try await kit.waitUntilIdle(within: .seconds(120))
        let items = device.collection("items", of: Item.self)
        var changes = items.changes().makeAsyncIterator()
        say("first change set of \(count) records", try await ContinuousClock().measure { _ = try await changes.next() })
        try await report("change set", count) {
            _ = try await backend.setValue(Item(n: $0), forKey: "7")
            while let change = try await changes.next() { if change.updated.contains(where: { $0.id == "7" && !$0.isPending }) { return } }
        }
        var snapshots = items.snapshots().makeAsyncIterator()
        _ = try await snapshots.next()
        try await report("array", count) { number in
            _ = try await backend.setValue(Item(n: number), forKey: "7")
            while let all = try await snapshots.next() { if all.contains(where: { $0.id == "7" && $0.value?.n == number }) { return } }
        }
        await kit.close()
    }

    private static func report(_ name: String, _ count: Int, _ body: (Int) async throws -> Void) async throws {
        var durations: [Duration] = []
        for number in 1...20 { durations.append(try await ContinuousClock().measure { try await body(-number) }) }
        say("\(name) with one change among \(count) records, from the write, median", durations.sorted()[10])
    }

    private enum LoadError: Error { case wrongSum }
}
