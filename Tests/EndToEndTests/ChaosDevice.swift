import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire

/// A device with a mix of operations, behind a network that is cut from time to time.
actor ChaosDevice {
    private static let collection = "things"
    private static let keys = 500

    nonisolated let index: Int
    nonisolated let client: SyncClient
    private let proxy: FaultProxy
    private let things: SyncedCollection<Content>
    private var random: SeededGenerator
    private var seen: [String: Revision] = [:]
    /// Each case in which a key's revision was lower than an earlier one.
    private(set) var falls: [String] = []

    init(index: Int, port: Int, directory: String) async throws {
        self.index = index
        random = SeededGenerator(seed: UInt64(index))
        proxy = try FaultProxy(to: port)
        var configuration = SyncClient.Configuration(url: proxy.url, namespace: "chaos", storage: .directory(directory))
        configuration.following = .everything
        configuration.firstDelay = .milliseconds(5)
        configuration.longestDelay = .milliseconds(100)
        client = try SyncClient(configuration)
        things = client.rawCollection(Self.collection)
        try await client.start()
    }

    func work(until deadline: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < deadline {
            let id = "\(Int.random(in: 0..<Self.keys, using: &random))"
            do {
                try await act(on: id)
            } catch let error as ClientError {
                // While the connection is cut a fetch or an invalidation may fail, and a missing record cannot be
                // patched; nothing else may fail.
                switch error {
                case .unreachable, .cannotApply: break
                default: throw error
                }
            }
            if let snapshot = things[id] { note(snapshot) }
        }
    }

    private func act(on id: String) async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: note(try await things.snapshot(forKey: id))
        case 40..<45: note(try await things.snapshot(forKey: id, policy: .networkOnly))
        case 45..<65:
            try await things.setValue(try Content(json: Array("{\"by\":\(index),\"n\":\(random.next() % 1_000)}".utf8)), forKey: id)
        case 65..<80: try await things.increment("/n", of: id)
        case 80..<86: try await things.merge(json: Array("{\"merged\":\(index)}".utf8), into: id)
        case 86..<92: try await things.removeValue(forKey: id)
        case 92..<96: try await client.invalidate([try RecordKey(collection: Self.collection, id: id)])
        case 96: try await client.invalidate(.collection(Self.collection, prefix: String(id.prefix(1))))
        default: proxy.cut()
        }
    }

    private func note(_ snapshot: Snapshot<Content>) {
        guard let revision = snapshot.revision else { return }
        if let earlier = seen[snapshot.id], revision < earlier { falls.append("\(snapshot.id) fell from \(earlier) to \(revision)") }
        seen[snapshot.id] = max(revision, seen[snapshot.id] ?? revision)
    }

    /// Waits until every write of this device has its verdict and the feed has delivered a later change.
    func settle() async throws {
        try await client.waitUntilDrained()
        let marker = try await client.rawCollection("marker").setValue(try Content(json: Array("1".utf8)), forKey: "\(index)")
        try await marker.waitUntilConfirmed()
    }

    /// The differences from the server: the keys, with the value on each side.
    func differences(from truth: [String: Record]) async throws -> [String] {
        // Each device's marker comes after all its writes; the markers of all are in the truth's position.
        for other in 0..<8 {
            for try await snapshot in client.rawCollection("marker").snapshots(forKey: "\(other)")
            where snapshot.content != nil && !snapshot.isPending {
                break
            }
        }
        var differences: [String] = []
        for key in 0..<Self.keys {
            let id = "\(key)"
            // An invalidated record is fetched again; a cached one must already be right.
            let snapshot = try await things.snapshot(forKey: id)
            note(snapshot)
            if snapshot.isPending || snapshot.content != truth[id]?.content || snapshot.exists && snapshot.revision != truth[id]?.revision {
                differences.append("\(id): shows \(snapshot), the server has \(String(describing: truth[id]))")
            }
        }
        return differences + falls
    }

    /// The server's records, as `curl` reads them.
    static func truth(port: Int) async throws -> [String: Record] {
        let answer = try await curl(["http://127.0.0.1:\(port)/v1/chaos/records/\(collection)?limit=1000"])
        return Dictionary(uniqueKeysWithValues: try RecordList(json: Array(answer.body.utf8)).records.map { ($0.key.id, $0) })
    }
}
