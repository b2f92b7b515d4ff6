import FreshetClient
import FreshetWire
import HTTPTypes

extension DemoScript {
    /// Imports countries and languages of the world through the server's API.
    mutating func importTables() async throws {
        output.begin("Import the ISO tables of countries and languages")
        var written = 0
        var count = 0
        let time = try await measure {
            for (file, collection, field) in [("iso_3166-1", "countries", "alpha_2"), ("iso_639-3", "languages", "alpha_3")] {
                let bytes = try Self.table(file)
                let content = try ImportFile(bytes, rules: ImportRules(collection: collection, idField: field))
                var hash = FNV1a()
                hash.add(bytes)
                let plan = try ImportPlan(content, content: { hash })
                written += try await Importer(remote: remote, plan: plan).run(content) { _ in }.written
                count += plan.count
            }
        }
        output.report("\(grouped(written)) records in \(time.text), each on disk before it was acknowledged")
        let held = try await truth().tier
        output.check("the server holds them all", expected: grouped(count), seen: grouped(held.entries.count))
    }

    private static func table(_ name: String) throws(CommandFailure) -> [UInt8] {
        let path = "\(tables)/\(name).json"
        do {
            return try ValueArgument.file(path)
        } catch {
            throw CommandFailure(.noInput, "\(error.message); the demo's data is in Debian's package iso-codes: apt-get install iso-codes")
        }
    }

    /// Starts two empty devices, each of which fetches a copy.
    mutating func fillCaches() async throws {
        output.begin("Two devices begin with empty caches")
        let (tier, head) = try await truth()
        let (a, b) = (a, b)
        let time = try await measure {
            try await a.client.start()
            try await b.client.start()
            try await a.reached(head)
            try await b.reached(head)
        }
        output.report("both have all \(grouped(tier.entries.count)) records, in memory and on disk, after \(time.text)")
        try await checkCaches()
    }

    /// Reads one record from each tier that can return it.
    mutating func readFresh() async throws {
        output.begin("A reads New Zealand afresh")
        let countries = a.collection("countries")
        var fetched: Snapshot<Content>?
        let network = try await measure { fetched = try await countries.snapshot(forKey: "NZ", policy: .networkOnly) }
        var cached: Snapshot<Content>?
        let rounds = 10_000
        let memory = await measure { for _ in 0..<rounds { cached = countries["NZ"] } } / rounds
        output.report("from the server \(network.text), from memory \(grouped(Int(memory / .nanoseconds(1)))) ns")
        let record = try await remote.ask(
            .post, remote.namespace.readsPath, ReadsRequest(items: [.init(key: try RecordKey("countries/NZ"))]), as: ReadsResponse.self)
        let value = String(decoding: record.records.first?.content?.bytes ?? [], as: UTF8.self)
        output.check("what A fetched is what the server has", expected: value, seen: Self.text(fetched))
        output.check("what A holds is what the server has", expected: value, seen: Self.text(cached))
        output.check("A knows that it is fresh", expected: "live", seen: cached?.freshness.map { "\($0)" } ?? "nothing")
        try await checkCaches()
    }

    /// A value as a text.
    static func text(_ snapshot: Snapshot<Content>?) -> String {
        String(decoding: snapshot?.content?.bytes ?? [], as: UTF8.self)
    }
}
