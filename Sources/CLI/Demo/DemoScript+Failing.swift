import FreshetClient
import FreshetTransport
import FreshetWire
import HTTPTypes

extension DemoScript {
    /// Invalidates records that changed in another system: devices that hold all records read them again, and show the
    /// old values until then.
    mutating func invalidate() async throws {
        output.begin("An invalidation has both devices read records again")
        let keys = try ["NC", "NF", "NU", "NZ"].map { try RecordKey(collection: "countries", id: $0) }
        let (a, b) = (a, b)
        let before = [a, b].map { $0.verified(keys) }
        let time = try await measure {
            let revision = try await a.client.invalidate(Set(keys).sorted())
            for device in [a, b] { try await device.reached(revision, isVerified: true) }
        }
        output.report("\(keys.count) records, read again by both devices after \(time.text)")
        for (device, earlier) in zip([a, b], before) {
            let later = device.verified(keys)
            let count = keys.count { key in
                guard let first = earlier[key], let second = later[key] else { return false }
                return second > first
            }
            output.check("\(device.name) has read each of them since", expected: "\(keys.count)", seen: "\(count)")
        }
        try await checkCaches()
    }

    /// Kills the server in the middle of writing, and starts it again.
    mutating func killServer() async throws {
        output.begin("The server is killed with SIGKILL in the middle of writing")
        let increments = 300
        let a = a
        let counting = Task {
            for _ in 1...increments { try await a.client.rawCollection("counters").increment("/visits", of: "home") }
        }
        // Acknowledged writes one after the other, and the kill right after the last.
        var acknowledged = TierContents()
        for number in 1...100 {
            let key = try RecordKey(collection: "log", id: "\(number)")
            let value = Array("{\"number\":\(number)}".utf8)
            let receipt = try WriteReceipt(
                of: try await remote.reply(.put, remote.namespace.path(of: key), fields: [.contentType: Content.json], body: value))
            acknowledged.entries[key] = TierContents.Entry(revision: receipt.revision?.number ?? 0, value: value)
        }
        await server.kill()
        output.report(
            "killed right after its \(acknowledged.entries.count)th acknowledgement; A had \(a.client.status.waitingWrites) writes waiting")
        try await counting.value
        output.report("A went on: \(grouped(increments)) increments of one counter, all on its disk")

        let (executable, data, port) = (executable, folder + "/server", server.port)
        let restart = try await measure { server = try await ServerProcess.start(executable: executable, data: data, port: port) }
        output.report("started again on the same data and port, ready after \(restart.text)")
        let drain = try await measure {
            try await within(.seconds(60), "A's writes to be confirmed") { try await a.client.waitUntilDrained() }
        }
        output.report("A's outbox was empty \(drain.text) later")

        let log = TierContents(try await RecordPages.all(remote, "log"))
        let same = acknowledged.description(against: acknowledged)
        output.check("every acknowledged write is there", expected: same, seen: log.description(against: acknowledged))
        let counter = try await remote.reply(.get, remote.namespace.path(of: try RecordKey("counters/home")))
        output.check(
            "every increment counted once, and none twice", expected: "{\"visits\":\(increments)}",
            seen: String(decoding: counter.body, as: UTF8.self))
        try await checkCaches()
    }
}
