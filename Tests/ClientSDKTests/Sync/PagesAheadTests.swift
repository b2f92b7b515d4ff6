import FreshetWire
import Testing

@testable import FreshetClient

/// Catching up: while one page is stored, the next is on its way; nothing goes on from a page that was not stored.
@Suite struct PagesAheadTests {
    /// A replica whose first page, up to position 3, is on its way to the disk.
    private func storingTheFirst() -> Scene {
        var scene = Scene(.everything)
        scene.page([Scene.put("c/1", 3, "1")], to: 3, upToDate: false, settles: false)
        return scene
    }

    @Test func theNextPageIsAskedForWhileOneIsStored() {
        // Given, When
        var scene = storingTheFirst()
        // Then
        #expect(scene.since == .after(Scene.position(3)))
        #expect(scene.wait == 0)
        #expect(scene.device.store.state.cursor == nil)
        #expect(scene.device.publications.isEmpty)
        // When the next comes before the first is stored
        scene.page([Scene.put("c/2", 5, "2")], to: 6, settles: false)
        // Then it waits for its turn, and nothing else is asked for
        #expect(scene.feed == nil)
        #expect(scene.device.transactions.count == 1)
        // When
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.state.cursor == Scene.position(6))
        #expect(scene.stored("c/1") != nil && scene.stored("c/2") != nil)
        #expect(scene.device.status?.connection == .live)
        #expect(scene.since == .after(Scene.position(6)))
        #expect(scene.wait == 25)
    }

    @Test func thereIsOnePageAheadAtMost() {
        // Given
        var scene = storingTheFirst()
        // When
        scene.page([Scene.put("c/2", 5, "2")], to: 6, upToDate: false, settles: false)
        // Then
        #expect(scene.feed == nil)
        // When the first is stored
        scene.device.commitNext()
        // Then
        #expect(scene.since == .after(Scene.position(6)))
    }

    @Test func whatWasAskedForAfterAPageThatIsNotStoredIsCancelled() {
        // Given
        var scene = storingTheFirst()
        // When
        scene.device.failNext(.full)
        // Then
        #expect(scene.feed == nil)
        #expect(scene.device.status?.feedTrouble == .disk(.full))
        // When
        scene.device.fireTimer()
        // Then it begins where the disk is
        #expect(scene.since == .start)
    }

    @Test(arguments: [true, false]) func whatCameAfterAPageThatIsNotStoredIsDropped(hasChanges: Bool) {
        // Given the next answer is here already
        var scene = storingTheFirst()
        scene.replyToFeed(
            hasChanges
                ? .page(ChangePage(changes: [Scene.put("c/2", 5, "2")], cursor: Scene.position(6), upToDate: true))
                : .noChange(Scene.position(6)), settles: false)
        // When
        scene.device.failNext(.full)
        scene.device.settleDisk()
        // Then no change is skipped
        #expect(scene.device.store.state.cursor == nil)
        #expect(scene.stored("c/2") == nil)
        #expect(scene.device.status?.connection == .catchingUp)
        // When
        scene.device.fireTimer()
        // Then
        #expect(scene.since == .start)
        scene.page([Scene.put("c/1", 3, "1"), Scene.put("c/2", 5, "2")], to: 6)
        #expect(scene.device.store.state.cursor == Scene.position(6))
        #expect(scene.device.status?.connection == .live)
    }

    @Test func aResetForgetsWhatIsAhead() {
        // Given a device that lags, with a page on its way to the disk and the next one asked for
        var scene = Scene.live()
        scene.page([Scene.put("c/1", 12, "1")], to: 12, upToDate: false, settles: false)
        #expect(scene.since == .after(Scene.position(12)))
        // When the position is lost
        scene.replyToFeed(.problem(Problem(.cursorExpired, "gone"), cursor: nil, retryAfter: nil))
        // Then it reads from the start
        #expect(scene.device.store.state.cursor == nil)
        #expect(scene.since == .start)
        scene.page([Scene.put("c/1", 12, "1")], to: 14)
        #expect(scene.device.status?.connection == .live)
        #expect(scene.wait == 25)
    }

    @Test func requestsLeaveBeforeTheTransactionThatIsDecidedWithThem() throws {
        // Given
        var scene = Scene(.everything)
        let feed = try #require(scene.feed)
        let page = ChangePage(changes: [Scene.put("c/1", 3, "1")], cursor: Scene.position(3), upToDate: false)
        // When
        let actions = scene.device.machine.handle(.replied(feed.id, .page(page)), at: scene.device.now)
        // Then
        let request = try #require(actions.firstIndex { $0.isRequest })
        #expect(try request < #require(actions.firstIndex { $0.isCommit }))
    }

    @Test func writesLeaveBeforeAnybodyIsTold() throws {
        // Given a write on its way to the disk, and another behind it
        var scene = Scene.live()
        _ = scene.set("c/1", .put(Scene.json("1")), settles: false)
        _ = scene.set("c/2", .put(Scene.json("2")), settles: false)
        let transaction = scene.device.transactions.removeFirst()
        // When the disk has the first
        let skipped = scene.device.store.commit(transaction)
        let actions = scene.device.machine.handle(.committed(transaction.id, skipped: skipped), at: scene.device.now)
        // Then it leaves first of all, and alone: the other is not on disk
        #expect(actions.first?.sendsWrites == true)
        guard case .send(let request)? = actions.first, case .writes(let batch) = request.kind else { return }
        #expect(batch.writes.map(\.number) == [1])
        #expect(actions.contains { $0.isCommit } && actions.contains { if case .publish = $0 { true } else { false } })
    }
}
