import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// Random deliveries to two observers of one collection, one read by its changes and the other by its snapshots.
@Suite("The changes of a collection, put together, are the collection", .timeLimit(.minutes(5)))
struct CollectionObserverPropertyTests {
    @Test("for any deliveries, and however often a look is repeated", arguments: 0..<20 as Range<UInt64>)
    func folded(_ part: UInt64) throws {
        for seed in part * 100..<(part + 1) * 100 {
            var run = Run(SeededGenerator(seed: seed))
            do {
                for _ in 0..<40 { try run.step() }
                try run.look()
            } catch {
                throw Difference(description: "seed \(seed): \(error)")
            }
        }
    }

    /// A difference between the observers and the expected collection.
    private struct Difference: Error, CustomStringConvertible {
        var description: String
    }

    private struct Run {
        private var random: SeededGenerator
        private let memory = MemoryTier(costLimit: 1 << 20, filter: .all)
        private let rule = SharedFreshness(.all) { 0 }
        private let registry = ObserverRegistry()
        private let changing: CollectionObserver
        private let listed: CollectionObserver
        /// The collection that the changes make, put together.
        private var folded: [String: KeyView] = [:]
        private var revision: Int64 = 0

        init(_ random: SeededGenerator) {
            var random = random
            let members = (0..<Int.random(in: 0..<4, using: &random)).map { Self.value("\($0)", "1", 0, isPending: false) }
            changing = CollectionObserver("c", members, fetches: true, AsyncStream.makeStream(of: Void.self).continuation)
            listed = CollectionObserver("c", members, fetches: true, AsyncStream.makeStream(of: Void.self).continuation)
            self.random = random
            for observer in [changing, listed] { _ = registry.add(observer) }
        }

        private static func value(_ id: String, _ text: String?, _ revision: Int64, isPending: Bool) -> CachedValue {
            let entry = PartSupport.entry("c/\(id)", revision, value: text)
            return CachedValue(KeyView(key: entry.key, value: KeyView.Value(entry), isPending: isPending, entry: entry))
        }

        mutating func step() throws {
            if Int.random(in: 0..<3, using: &random) == 0 { try look() } else { deliver() }
        }

        private mutating func deliver() {
            let count = Int.random(in: 1...4, using: &random)
            var events: [() -> Void] = []
            for _ in 0..<count { events.append(event()) }
            registry.deliver { for event in events { event() } }
        }

        private mutating func event() -> () -> Void {
            revision += 1
            let (registry, position) = (registry, revision)
            let (id, isEven) = (String(Int.random(in: 0..<6, using: &random)), Bool.random(using: &random))
            switch Int.random(in: 0..<12, using: &random) {
            case 0: return { registry.forgetAll() }
            case 1: return { registry.forget { ($0.entry?.revision.number ?? 0).isMultiple(of: 2) == isEven } }
            case 2:
                return {
                    registry.update { view in
                        guard view.key.id == id, var entry = view.entry else { return nil }
                        entry.pass = position
                        return KeyView(key: view.key, value: view.value, isPending: view.isPending, entry: entry)
                    }
                }
            case 3: return { registry.notify(CachedValue(KeyView(Scene.key("c/\(id)"), nil))) }
            case 4...6: return { registry.notify(Self.value(id, nil, position, isPending: isEven)) }
            default: return { registry.notify(Self.value(id, "\(position)", position, isPending: isEven)) }
            }
        }

        /// Takes the changes, and compares what they make with the collection. The look is repeated at random, with deliveries in between.
        mutating func look() throws {
            var repetitions = Int.random(in: 0..<3, using: &random)
            let (difference, _) = changing.changes { look in
                rule.readConsistently {
                    let difference = look()
                    if repetitions > 0 {
                        repetitions -= 1
                        rule.set(isLive: Bool.random(using: &random), pass: 1)
                        if Bool.random(using: &random) { deliver() }
                    }
                    return difference
                }
            }
            for value in difference.inserted {
                try check(folded.updateValue(value.view, forKey: value.view.key.id) == nil, "inserted, and was there: \(value.view)")
            }
            for value in difference.updated {
                try check(folded.updateValue(value.view, forKey: value.view.key.id) != nil, "updated, and was not there: \(value.view)")
            }
            for key in difference.removed {
                try check(folded.removeValue(forKey: key.id) != nil, "removed, and was not there: \(key)")
            }
            let shown = folded.values.sorted { $0.key < $1.key }.map { Snapshot(memory.hit(CachedValue($0)), .raw) }
            let all = listed.snapshots(memory, .raw)
            try check(shown == all, "the changes make \(shown), the collection is \(all)")
        }

        private func check(_ condition: Bool, _ text: @autoclosure () -> String) throws {
            if !condition { throw Difference(description: text()) }
        }
    }
}
