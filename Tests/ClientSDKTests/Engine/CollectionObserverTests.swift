import FreshetWire
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

    @Test("what is delivered together shows together")
    func whole() {
        // Given
        let observer = observer(Self.value("b", "1"))
        #expect(ids(observer) == ["b"])
        // When
        registry.deliver {
            registry.tell(Self.value("a", "2"))
            #expect(ids(observer) == ["b"])
            registry.tell(Self.value("b", nil))
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
            registry.tell(Self.value("e", "1"))
            registry.tell(Self.value("d", "1"))
            registry.tell(Self.value("c", nil))
            registry.tell(Self.value("b", "2"))
            registry.tell(Self.value("f", "1"))
        }
        registry.deliver { registry.tell(Self.value("f", nil)) }
        // Then
        #expect(changes(observer) == [["d", "e"], ["b"], ["c"]])
    }

    @Test("ids are told apart by their bytes")
    func bytes() {
        // Given two ids that look the same
        let observer = observer(Self.value("\u{e9}", "1"), Self.value("e\u{301}", "2"))
        // Then
        #expect(ids(observer).map { Array($0.utf8) } == [Array("e\u{301}".utf8), Array("\u{e9}".utf8)])
    }

    @Test("what is taken away is unknown until it comes back")
    func unknown() {
        // Given
        let observer = observer(Self.value("a", "1"), Self.value("b", "1"))
        // When
        registry.deliver { registry.forget { $0.key.id == "a" } }
        // Then
        #expect(ids(observer) == ["b"] && observer.unknownKeys == [Scene.key("c/a")])
        // When
        registry.deliver { registry.tell(Self.value("a", "2", revision: 2)) }
        #expect(ids(observer) == ["a", "b"] && observer.unknownKeys.isEmpty)
    }
}
