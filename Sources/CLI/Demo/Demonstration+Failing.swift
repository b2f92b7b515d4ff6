import FreshetClient
import FreshetWire
import HTTPTypes

extension Demonstration {
    /// Caches forget what changed in another system, in both tiers, and load it afresh.
    mutating func invalidate() async throws {
        narrator.begin("An invalidation evicts both tiers")
        let keys = try Set(["NZ", "NC", "NF", "NU"].map { try RecordKey(collection: "countries", id: $0) })
        let (a, b) = (a, b)
        let time = try await measure {
            let revision = try await a.client.invalidate(keys.sorted())
            try await a.reached(revision)
            try await b.reached(revision)
        }
        narrator.tell("\(keys.count) records, gone from both devices after \(time.text)")
        try await checkCaches(evicted: keys)

        let countries = b.collection("countries")
        var loaded: Snapshot<Content>?
        let reading = try await measure { loaded = try await countries.snapshot(of: "NZ") }
        narrator.tell("B reads New Zealand again, from the server, in \(reading.text)")
        narrator.check("it came from a fetch", expected: "fetch", seen: loaded?.source.rawValue ?? "nothing")
        for device in [a, b] {
            for key in keys.sorted() { _ = try await device.collection("countries").snapshot(of: key.id) }
        }
        try await checkCaches()
    }

    /// The server is killed in the middle of writing, and started again.
    mutating func killServer() async throws {
        narrator.begin("The server is killed with SIGKILL in the middle of writing")
        let increments = 300
        let a = a
        let counting = Task {
            for _ in 1...increments { try await a.client.rawCollection("counters").increment("/visits", of: "home") }
        }
        // One acknowledged write after the other, and the kill at once after the last.
        var acknowledged = Tier()
        for number in 1...100 {
            let key = try RecordKey(collection: "log", id: "\(number)")
            let value = Array("{\"number\":\(number)}".utf8)
            let receipt = try WriteReceipt(
                of: try await remote.reply(.put, remote.namespace.path(of: key), fields: [.contentType: Content.json], body: value))
            acknowledged.entries[key] = Tier.Entry(revision: receipt.revision?.number ?? 0, value: value)
        }
        await server.kill()
        narrator.tell(
            "killed right after its \(acknowledged.entries.count)th acknowledgement; A had \(a.client.status.waitingWrites) writes waiting")
        try await counting.value
        narrator.tell("A went on: \(grouped(increments)) increments of one counter, all on its disk")

        let (executable, data, port) = (executable, folder + "/server", server.port)
        let restart = try await measure { server = try await ServerProcess.start(executable: executable, data: data, port: port) }
        narrator.tell("started again on the same data and port, ready after \(restart.text)")
        let drain = try await measure { try await within(.seconds(60), "A's writes to be confirmed") { try await a.client.drained() } }
        narrator.tell("A's outbox was empty \(drain.text) later")

        let log = Tier(try await RecordPages.all(remote, "log"))
        let same = acknowledged.description(against: acknowledged)
        narrator.check("every acknowledged write is there", expected: same, seen: log.description(against: acknowledged))
        let counter = try await remote.reply(.get, remote.namespace.path(of: try RecordKey("counters/home")))
        narrator.check(
            "every increment counted once, and none twice", expected: "{\"visits\":\(increments)}",
            seen: String(decoding: counter.body, as: UTF8.self))
        try await checkCaches()
    }
}
