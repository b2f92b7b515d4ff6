// swift-format-ignore-file: NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// A device belongs to the store that it has met first: another one gets nothing of it, and gives it nothing.
@Suite struct StoreBindingTests {
    private let own = StoreIdentifier("own")!
    private let other = StoreIdentifier("other")!

    /// A device that belongs to ``own``, is live at `a-10` and holds a record.
    private func bound(adopts: Bool = false) throws -> Scene {
        var scene = Scene(.everything) { $0.adoptsStores = adopts }
        try reply(to: scene.feed, .page(page([Scene.put("c/1", 4, "1")], to: 10)), from: own, &scene)
        #expect(scene.device.store.state.store == own)
        return scene
    }

    private func page(_ changes: [Change], to number: Int64, _ epoch: String = "a") -> ChangePage {
        ChangePage(changes: changes, cursor: Scene.position(number, epoch), upToDate: true)
    }

    private func reply(
        to request: RequestDescription?, _ reply: Reply, from store: StoreIdentifier?, _ scene: inout Scene
    ) throws {
        scene.device.reply(try #require(request).id, reply, lastWrite: request?.kind.client == nil ? nil : 0, from: store)
        scene.device.settleDisk()
    }

    private func isRefused(_ scene: Scene, _ found: StoreIdentifier?) -> Bool {
        scene.device.status?.feedTrouble == .transport(.otherStore(found, expected: own))
    }

    @Test("after a restart no write leaves before the server has said which store it is")
    func checkBeforeTheFirstBatch() throws {
        // Given a device with a write that waits
        var scene = try bound()
        scene.put("c/2", "2")
        // When it restarts, and another store answers
        scene.device.crash()
        #expect(scene.writes == nil)
        let status = ClientStatus(client: scene.device.store.state.client, last: 0)
        try reply(to: scene.status, .client(status, Scene.position(3, "z")), from: other, &scene)
        try reply(
            to: scene.feed, .problem(Problem(.epochChanged, "z"), cursor: Scene.position(3, "z"), retryAfter: nil), from: other, &scene)
        // Then nothing is sent, taken or forgotten, also later
        #expect(isRefused(scene, other))
        for _ in 1...20 {
            scene.device.fireTimer()
            #expect(scene.writes == nil)
            if let id = scene.status?.id { scene.device.reply(id, .client(status, Scene.position(3, "z")), from: other) }
        }
        #expect(scene.device.store.state.epoch == Epoch("a") && scene.text("c/1") == "1" && scene.isPending("c/2"))
        // When the own store answers again
        scene.device.handle(.wake)
        try reply(to: scene.feed, .page(page([], to: 10)), from: own, &scene)
        try reply(to: scene.status, .client(status, Scene.position(10)), from: own, &scene)
        // Then the write leaves
        #expect(scene.numbers == [1])
    }

    @Test("a page of another store is not taken, although nothing was reset before it")
    func refusedPage() throws {
        var scene = try bound()
        // When
        try reply(to: scene.feed, .page(page([Scene.put("c/1", 12, "9")], to: 12)), from: other, &scene)
        // Then
        #expect(scene.text("c/1") == "1" && isRefused(scene, other))
    }

    @Test("a read that another store answers fails with both names")
    func refusedRead() throws {
        var scene = try bound()
        let callerID = scene.fetch("c/1")
        // When it is tried as often as reads are
        for _ in 1...scene.device.settings.fetchAttempts {
            let record = Scene.record(Scene.key("c/1"), 12, Scene.json("9"))
            if let fetch = scene.fetches.first { try reply(to: fetch, .record(record, Scene.position(12)), from: other, &scene) }
            scene.pass(60_000)
        }
        // Then
        #expect(scene.failure(callerID) == .offline(.otherStore(other, expected: own)) && scene.text("c/1") == "1")
    }

    @Test("a server that does not say which store it is counts as the own one only in the history that the device follows")
    func serverOfAnEarlierVersion() throws {
        // Given
        var scene = try bound()
        // When
        try reply(to: scene.feed, .page(page([Scene.put("c/1", 12, "2")], to: 12)), from: nil, &scene)
        // Then
        #expect(scene.text("c/1") == "2" && scene.device.status?.feedTrouble == nil)
        // When
        try reply(to: scene.feed, .problem(Problem(.epochChanged, "z"), cursor: Scene.position(3, "z"), retryAfter: nil), from: nil, &scene)
        // Then
        #expect(isRefused(scene, nil) && scene.device.store.state.epoch == Epoch("a"))
    }

    @Test("a restored back-up is the same store: the device verifies and keeps its writes")
    func restoredBackup() throws {
        var scene = try bound()
        scene.put("c/2", "2")
        // When
        try reply(to: scene.feed, .problem(Problem(.epochChanged, "b"), cursor: Scene.position(3, "b"), retryAfter: nil), from: own, &scene)
        try reply(to: scene.feed, .page(page([Scene.put("c/1", 3, "0")], to: 3, "b")), from: own, &scene)
        let status = ClientStatus(client: scene.device.store.state.client, last: 0)
        try reply(to: scene.status, .client(status, Scene.position(3, "b")), from: own, &scene)
        // Then
        #expect(scene.text("c/1") == "0" && scene.numbers == [1] && scene.epoch == Epoch("b"))
    }

    @Test("a device that adopts goes over to the other store with its writes")
    func adoption() throws {
        // Given
        var scene = try bound(adopts: true)
        scene.put("c/2", "2")
        // When
        try reply(
            to: scene.feed, .problem(Problem(.epochChanged, "z"), cursor: Scene.position(3, "z"), retryAfter: nil), from: other, &scene)
        try reply(to: scene.feed, .page(page([], to: 3, "z")), from: other, &scene)
        let status = ClientStatus(client: scene.device.store.state.client, last: 0)
        try reply(to: scene.status, .client(status, Scene.position(3, "z")), from: other, &scene)
        // Then
        #expect(scene.device.store.state.store == other && scene.view("c/1").value == .unknown)
        #expect(scene.numbers == [1] && scene.epoch == Epoch("z"))
    }

    @Test("after a clear a device belongs to no store")
    func clearedDevice() throws {
        var scene = try bound()
        // When
        scene.device.handle(.clear(newClient: try ClientIdentifier("next"), CallerID(99)))
        scene.device.settleDisk()
        try reply(to: scene.feed, .page(page([], to: 3, "z")), from: other, &scene)
        // Then
        #expect(scene.device.store.state.store == other && scene.device.status?.feedTrouble == nil)
    }

    @Test("a disk that does not take the store's name is asked again")
    func bindingThatIsNotStored() throws {
        // Given
        var scene = Scene(.everything)
        // When
        scene.device.reply(try #require(scene.feed).id, .page(page([], to: 10)), from: own)
        scene.device.failNext()
        scene.device.settleDisk()
        #expect(scene.device.store.state.store == nil)
        try reply(to: scene.feed, .noChange(Scene.position(10)), from: own, &scene)
        // Then
        #expect(scene.device.store.state.store == own)
    }
}
