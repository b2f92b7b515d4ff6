import Dispatch
import FreshetWire
import Synchronization
import Testing

@testable import FreshetClient

@Suite("An observer of a collection") struct CollectionObserverTests {
    private let memory = MemoryTier(costLimit: 1 << 20, filter: .all)
    private let registry = ObserverRegistry()

    private static func value(_ id: String, _ text: String?, revision: Int64 = 1) -> CachedValue {
        let key = Scene.key("c/\(id)")
        return CachedValue(KeyView(key, PartSupport.entry("c/\(id)", revision, value: text)))
    }

    private func observer(_ members: CachedValue...) -> CollectionObserver {
        let (_, continuation) = AsyncStream.makeStream(of: Void.self)
        let observer = CollectionObserver("c", members, fetches: true, continuation)
        _ = registry.add(observer)
        return observer
    }

    private func ids(_ observer: CollectionObserver) -> [String] { observer.snapshots(memory, .raw).map(\.id) }

    private func changes(_ observer: CollectionObserver) -> [[String]] {
        let difference = observer.changes(memory).0
        return [difference.inserted.map(\.view.key.id), difference.updated.map(\.view.key.id), difference.removed.map(\.id)]
    }

    @Test("values that are delivered together show together")
    func whole() {
        // Given
        let observer = observer(Self.value("b", "1"))
        #expect(ids(observer) == ["b"])
        // When
        registry.deliver {
            registry.notify(Self.value("a", "2"))
            #expect(ids(observer) == ["b"])
            registry.notify(Self.value("b", nil))
            #expect(ids(observer) == ["b"])
        }
        // Then
        #expect(ids(observer) == ["a"])
    }

    @Test("a look at the changes gets those since the last look, in order, and nothing of what came and went")
    func differences() {
        // Given
        let observer = observer(Self.value("b", "1"), Self.value("a", "1"), Self.value("c", "1"))
        // Then the first look has all
        #expect(changes(observer) == [["a", "b", "c"], [], []])
        #expect(changes(observer) == [[], [], []])
        // When
        registry.deliver {
            registry.notify(Self.value("e", "1"))
            registry.notify(Self.value("d", "1"))
            registry.notify(Self.value("c", nil))
            registry.notify(Self.value("b", "2"))
            registry.notify(Self.value("f", "1"))
        }
        registry.deliver { registry.notify(Self.value("f", nil)) }
        // Then
        #expect(changes(observer) == [["d", "e"], ["b"], ["c"]])
    }

    @Test("a look that is repeated, since the status has changed during it, has all that the first one took")
    func repeatedLook() {
        // Given an observer that has seen a and b
        let observer = observer(Self.value("a", "1"), Self.value("b", "1"))
        _ = observer.changes(memory)
        registry.deliver {
            registry.notify(Self.value("a", "2"))
            registry.notify(Self.value("b", nil))
            registry.notify(Self.value("c", "1"))
        }
        // When the status changes during the look, and records before the look is repeated
        let rule = SharedFreshness(.all) { 0 }
        var looks = 0
        let (difference, freshness) = observer.changes { look in
            rule.readConsistently {
                if looks == 1 {
                    registry.deliver {
                        registry.notify(Self.value("b", "3"))
                        registry.notify(Self.value("c", nil))
                        registry.notify(Self.value("d", "1"))
                    }
                }
                looks += 1
                defer { if looks == 1 { rule.set(isLive: true, pass: 1) } }
                return look()
            }
        }
        // Then
        #expect(looks == 2 && freshness.isLive)
        #expect(difference.inserted.map(\.view.key.id) == ["d"] && difference.removed.isEmpty)
        #expect(difference.updated.map(\.view.value.content) == [Scene.json("2"), Scene.json("3")])
        #expect(changes(observer) == [[], [], []])
    }

    @Test("changes that are taken while the status changes on another thread are all there, once")
    func statusChanges() {
        // Given an observer that has seen the collection empty
        let observer = observer()
        _ = observer.changes(memory)
        let count = 20_000
        let isDone = Atomic(false)
        let inserted = Mutex<[String]>([])
        // When records come on one thread, each with a change of the status, while another takes the changes
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            if thread == 0 {
                for number in 0..<count {
                    registry.deliver { registry.notify(Self.value("\(number)", "1")) }
                    memory.setFreshness(isLive: number.isMultiple(of: 2), pass: 1)
                }
                isDone.store(true, ordering: .sequentiallyConsistent)
            } else {
                var isLast = false
                while !isLast {
                    isLast = isDone.load(ordering: .sequentiallyConsistent)
                    let ids = observer.changes(memory).0.inserted.map(\.view.key.id)
                    inserted.withLock { $0 += ids }
                }
            }
        }
        // Then
        let ids = inserted.withLock { $0 }
        #expect(ids.count == count && Set(ids).count == count)
    }

    @Test("ids are compared by their bytes")
    func bytes() {
        // Given two ids that look the same
        let observer = observer(Self.value("\u{e9}", "1"), Self.value("e\u{301}", "2"))
        // Then
        #expect(ids(observer).map { Array($0.utf8) } == [Array("e\u{301}".utf8), Array("\u{e9}".utf8)])
    }

    @Test("a value that is taken away is unknown until it comes back")
    func unknown() {
        // Given
        let observer = observer(Self.value("a", "1"), Self.value("b", "1"))
        // When
        registry.deliver { registry.forget { $0.key.id == "a" } }
        // Then
        #expect(ids(observer) == ["b"] && observer.unknownKeys == [Scene.key("c/a")])
        // When
        registry.deliver { registry.notify(Self.value("a", "2", revision: 2)) }
        #expect(ids(observer) == ["a", "b"] && observer.unknownKeys.isEmpty)
    }
}
