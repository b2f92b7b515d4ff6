import FreshetServer
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

/// One operation, so that it can be applied to two stores.
enum StoreStep {
    case single(SingleWrite, Namespace)
    case batch(WriteBatch, Namespace)
    /// A batch that leaves numbers out, in the history that the group begins with.
    case resuming(WriteBatch, Namespace)
    case invalidate([InvalidationScope], Namespace)
    case drop(Namespace)
    case rotate(UInt64)
    case renew(Namespace, UInt64)
    case forget(Namespace)
    case compact(Timestamp)
    case forgetOutcomes(Timestamp)
}

/// One read.
enum StoreProbe {
    case changes(ChangeQuery, Namespace)
    case list(ListQuery, Namespace)
    case reads(ReadsRequest, Namespace)
    case last(ClientIdentifier, Namespace)
}

/// Random operations and reads, from a seed, with few names, so that they affect each other.
struct StoreScript {
    private var random: SeededGenerator
    /// The last number of each device, as far as the script knows.
    private var numbers: [String: Int64] = [:]
    private var cursors: [Cursor] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Ten units are half a day, since outcomes are forgotten by days.
    static func time(_ units: Int64) -> Timestamp { Timestamp(milliseconds: units * 4_320_000) }

    private mutating func one<Value>(_ values: Value...) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func namespace() throws -> Namespace { try Namespace(one("shop", "shop", "other")) }

    private mutating func key() throws -> RecordKey {
        try RecordKey(collection: one("a", "b"), id: one("1", "2", "eu-1", "eu-2", "\u{E9}", "e\u{301}", "z/\(number(1...3))"))
    }

    private mutating func json() -> String {
        one(
            "1", "{}", "[1,2]", "null", "{\"a\":1,\"b\":{\"c\":[]}}", "{\"b\":null}", "{\"b\":{\"c\":null,\"d\":\(number(0...9))}}",
            "{\"t\\u0065xt\":\"a\\\\b\"}", "{\"text\":\"\u{E9}\"}", "{\"e\":1}")
    }

    private mutating func operation() throws -> WriteOperation {
        switch number(1...10) {
        case 1...4: .put(json: json())
        case 5: .put(Content(bytes: [UInt8](repeating: 1, count: number(0...80)), type: "image/png"))
        case 6, 7: .patch(json: json())
        case 8: .delete
        default: try .increment(one("", "/a", "/b/d", "/n"), by: Int64(number(-3...3)))
        }
    }

    private mutating func author() throws -> (ClientIdentifier, Int64) {
        let name = one("phone", "tablet")
        let last = numbers[name] ?? 0
        // Mostly the next, sometimes an earlier one, rarely a gap.
        let number = one(last + 1, last + 1, last + 1, max(1, last - Int64(number(0...5))), last + Int64(number(1...2)))
        return (try ClientIdentifier(name), number)
    }

    private mutating func step() throws -> StoreStep {
        let namespace = try namespace()
        switch number(1...110) {
        case 1...40:
            let preconditions: [Precondition] = one(
                [], [], [], [.exists], [.absent], [.revision(.zero)], Array(cursors.suffix(1)).map { .matches([$0]) })
            var write = SingleWrite(key: try key(), operation: try operation(), preconditions: preconditions)
            if number(1...3) == 1 {
                let (client, number) = try author()
                write.author = Change.Author(client: client, write: number)
                numbers[client.text] = max(numbers[client.text] ?? 0, number)
            }
            return .single(write, namespace)
        case 41...75:
            let (client, first) = try author()
            let writes = try (first..<first + Int64(number(1...6))).map { number in
                Write(
                    number: number, key: try key(), operation: try operation(),
                    ifRevision: one(nil, nil, nil, .zero, Revision(Int64(self.number(1...60)))))
            }
            numbers[client.text] = max(numbers[client.text] ?? 0, first + Int64(writes.count) - 1)
            return .batch(WriteBatch(client: client, atomic: number(1...3) == 1, writes: writes), namespace)
        case 76...92:
            switch number(1...5) {
            case 1: return .invalidate([.everything], namespace)
            case 2: return .invalidate([.collection(one("a", "b"), prefix: one("", "e", "eu", "eu-1"))], namespace)
            default: return .invalidate(try (1...number(1...4)).map { _ in .key(try key()) }, namespace)
            }
        case 93, 94:
            numbers = [:]
            return .drop(namespace)
        case 95: return .rotate(random.next())
        case 101, 102: return .renew(namespace, random.next())
        case 103, 104: return .forget(namespace)
        case 105...108:
            let client = try ClientIdentifier(one("phone", "tablet"))
            let first = max(1, (numbers[client.text] ?? 0) + Int64(number(-3...20)))
            let writes = try (first..<first + Int64(number(1...3))).map { Write(number: $0, key: try key(), operation: try operation()) }
            numbers[client.text] = max(numbers[client.text] ?? 0, first + Int64(writes.count) - 1)
            return .resuming(WriteBatch(client: client, resume: true, atomic: number(1...3) == 1, writes: writes), namespace)
        case 109, 110: return .forgetOutcomes(Self.time(Int64(number(0...1_500))))
        default: return .compact(Self.time(Int64(number(0...1_500))))
        }
    }

    mutating func group() throws -> [StoreStep] { try (1...number(1...6)).map { _ in try step() } }

    mutating func probe() throws -> [StoreProbe] {
        let namespace = try namespace()
        let filter = try one(
            .all, ChangeFilter(collections: ["a"]), ChangeFilter(collections: [], prefix: "eu"),
            ChangeFilter(collections: ["a", "b"], prefix: "e"))
        let (limit, scan) = (number(1...20), number(1...30))
        return try [
            .changes(
                ChangeQuery(
                    since: one(.start, .now), filter: filter, limit: limit, byteLimit: one(0, 20, 1_000), inlineLimit: one(-1, 10, 1_000),
                    scanLimit: scan), namespace),
            .changes(ChangeQuery(since: .start, client: try ClientIdentifier("phone")), namespace),
            .list(
                ListQuery(
                    collection: one("a", "b"), after: one(nil, "2", "eu-1"), prefix: one("", "e", "eu-"), limit: number(1...5),
                    byteLimit: 50, scanLimit: one(1, 3, 10_000)),
                namespace),
            .reads(
                ReadsRequest(
                    items: (1...3).map { _ in ReadsRequest.Item(key: try key(), revision: one(nil, Revision(Int64(number(1...60))))) },
                    client: one(nil, try ClientIdentifier("phone"), try ClientIdentifier("tablet"))), namespace),
            .last(ClientIdentifier(one("phone", "tablet")), namespace),
        ]
    }
}

private final class Log: Sendable {
    private let noted = Mutex<[String]>([])
    func note(_ entry: String) { noted.withLock { $0.append(entry) } }
    var entries: [String] { noted.withLock { $0 } }
}

extension StoreFixture {
    /// Commits the steps as one group; returns all answers to the owners, and the changes for the feed.
    func run(_ steps: [StoreStep], at time: Timestamp) throws -> [String] {
        let log = Log()
        @Sendable func note<Value>(_ committed: Committed<Value>) { log.note("\(committed)") }
        let submissions: [Submission] = try steps.map { step in
            switch step {
            case .single(let write, let namespace): return .single(write, in: namespace, then: note)
            case .batch(let batch, let namespace): return .batch(batch, in: namespace, then: note)
            case .resuming(var batch, let namespace):
                batch.epoch = try store.state(of: namespace).epoch
                return .batch(batch, in: namespace, then: note)
            case .invalidate(let scopes, let namespace): return .invalidate(scopes, in: namespace, then: note)
            case .drop(let namespace): return .drop(namespace, then: note)
            case .rotate(let seed): return .rotateEpochs(seed: seed, then: note)
            case .renew(let namespace, let seed): return .renewEpoch(of: namespace, seed: seed, then: note)
            // In steps of two, so that both stores must take the same ones first.
            case .forget(let namespace): return .forgetDeletes(of: namespace, limit: 2, then: note)
            // Only one of the stores removes dropped rows step by step.
            case .compact(let time): return .compact(before: time) { note(Committed($0.result.map(\.forgotten), $0.cursor)) }
            case .forgetOutcomes(let time):
                return .compact(before: Timestamp(milliseconds: 0), outcomesBefore: time) {
                    note(Committed($0.result.map(\.outcomes), $0.cursor))
                }
            }
        }
        let group = try GroupCommit.commit(submissions, to: store, at: WriteTime(time), editLimit: 200)
        group.complete()
        return log.entries + group.commits.map { "\($0)" }
    }

    func look(_ probes: [StoreProbe]) throws -> [String] {
        var seen: [String] = []
        for name in ["shop", "other"] {
            let namespace = try Namespace(name)
            let state = try store.state(of: namespace)
            seen.append("\(state)")
            var counts = try store.counts(of: namespace).value
            // The stores write outcomes in different ways.
            counts.outcomeBytes = 0
            seen.append("\(counts)")
            // From the oldest cursor that can be followed, deletes and invalidations included, and from one that cannot.
            for revision in [state.forgotten, .zero] {
                let query = ChangeQuery(since: .after(Cursor(epoch: state.epoch, revision: revision)))
                seen.append("\(try store.changes(query, in: namespace))")
            }
        }
        for probe in probes {
            switch probe {
            case .changes(let query, let namespace): seen.append("\(try store.changes(query, in: namespace))")
            case .list(let query, let namespace): seen.append("\(try store.records(query, in: namespace))")
            case .reads(let request, let namespace): seen.append("\(try store.records(request, in: namespace))")
            case .last(let client, let namespace): seen.append("\(try store.lastWrite(of: client, in: namespace))")
            }
        }
        return seen
    }
}
