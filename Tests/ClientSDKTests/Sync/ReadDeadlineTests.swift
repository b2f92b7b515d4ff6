import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// A read ends in time, on any network.
@Suite struct ReadDeadlineTests {
    @Test func aReadOnASilentNetworkEndsAtItsDeadline() {
        // Given a read that nothing answers
        var scene = Scene.live()
        let first = scene.fetch("c/1")
        #expect(scene.fetches.first?.timeout == 10_000)
        // When
        scene.pass(4_000)
        let second = scene.fetch("c/1")
        scene.pass(5_999)
        #expect(scene.failure(first) == nil)
        scene.pass(1)
        // Then
        #expect(scene.failure(first) == .offline(.watchdog))
        #expect(scene.failure(second) == nil)
        // When the second one, which had joined, has waited for as long
        scene.pass(4_000)
        // Then
        #expect(scene.failure(second) == .offline(.watchdog))
        #expect(scene.fetches.isEmpty)
    }

    @Test func theDeadlineIncludesAllAttempts() {
        // Given a server that lets each attempt wait
        var scene = Scene.live { $0.readTimeout = 5_000 }
        let callerID = scene.fetch("c/1")
        // When
        scene.answerFetch(.problem(Problem(.overloaded, "busy"), cursor: Scene.position(10), retryAfter: 60_000))
        scene.pass(4_999)
        #expect(scene.failure(callerID) == nil)
        scene.pass(1)
        // Then it gets the result of the last one
        #expect(scene.failure(callerID) == .refused(Problem(.overloaded, "busy")))
    }

    @Test func aReadThatHasNotLeftEndsToo() {
        // Given more reads than may be under way, and a disk that answers nothing
        var scene = Scene.live {
            $0.fetchRequests = 1
            $0.fetchKeys = 1
        }
        let callerIDs = [scene.fetch("c/1"), scene.fetch("c/2")]
        #expect(scene.fetches.count == 1)
        // When
        scene.pass(10_000)
        // Then
        #expect(scene.failure(callerIDs[0]) == .offline(.watchdog))
        #expect(scene.failure(callerIDs[1]) == .offline(.interrupted("no answer within 10000 ms")))
    }

    @Test func aDeviceThatIsOfflineAnswersAtOnceAndTriesAgain() {
        // Given a device whose feed breaks once
        var scene = Scene.live()
        let early = scene.fetch("c/1")
        let failure = Reply.failure(.unreachable("no route"))
        scene.replyToFeed(failure)
        // Then a read goes on
        #expect(scene.failure(early) == nil && scene.fetches.count == 1)
        // When it fails again and again
        for _ in 0..<12 {
            while scene.feed == nil { scene.device.fireTimer() }
            scene.replyToFeed(failure)
        }
        let sent = scene.device.machine.inspection.requestsSent
        let callerIDs = (0..<10).map { _ in scene.fetch("c/2") }
        // Then nothing waits, and within a second the feed is asked for again, once
        for callerID in callerIDs { #expect(scene.failure(callerID) == .offline(.unreachable("no route"))) }
        #expect(scene.device.machine.inspection.requestsSent == sent)
        scene.pass(1_000)
        #expect(scene.feed != nil)
        // When the server is there again
        scene.page([], to: 10)
        // Then reads leave
        let late = scene.fetch("c/3")
        #expect(scene.failure(late) == nil && scene.fetches.contains { $0.kind == .record(Scene.key("c/3"), known: nil) })
    }

    @Test func silenceCountsAtOnce() {
        // Given a device whose poll gets no answer until the watchdog fires
        var scene = Scene.live()
        scene.pass(35_000)
        // When
        let callerID = scene.fetch("c/1")
        // Then
        #expect(scene.failure(callerID) == .offline(.watchdog))
    }

    @Test func aRefusedFeedHoldsUpNoRead() {
        // Given
        var scene = Scene.live()
        scene.replyToFeed(.problem(Problem(.overloaded, "busy"), cursor: nil, retryAfter: 60_000))
        scene.pass(5_000)
        // When
        let callerID = scene.fetch("c/1")
        // Then
        #expect(scene.failure(callerID) == nil && scene.fetches.count == 1)
    }

    // MARK: A complete copy

    @Test func aCopyThatHasCaughtUpKnowsWhatThereIsNot() {
        // Given
        var scene = Scene(.everything)
        let key = Scene.key("c/9")
        #expect(scene.device.machine.absence(of: key) == nil)
        // When the first of two pages is stored
        scene.page([Scene.put("c/1", 4, "1")], to: 5, upToDate: false)
        #expect(scene.device.machine.absence(of: key) == nil)
        scene.page([Scene.put("c/2", 6, "1")], to: 7)
        // Then
        let absence = scene.device.machine.absence(of: key)
        #expect(absence?.asOf == Scene.revision(7) && absence?.isAbsent == true && absence?.verifiedAt == scene.device.now.wall)
        // When there is more to read again
        scene.page([Scene.put("c/3", 8, "1")], to: 9, upToDate: false)
        // Then a record may have been made and changed behind the stored position
        #expect(scene.device.machine.absence(of: key) == nil)
        scene.page([], to: 12)
        #expect(scene.device.machine.absence(of: key)?.asOf == Scene.revision(12))
        // When the history is lost
        scene.replyToFeed(.problem(Problem(.cursorExpired, "gone"), cursor: nil, retryAfter: nil))
        // Then
        #expect(scene.device.machine.absence(of: key) == nil)
    }

    @Test func whatMayBeMissingIsNotSaidToBeAbsent() throws {
        // Given a device that holds what it has read, one with a filter, and one whose disk evicts
        let held = Scene.live(.cachedKeys)
        var filtered = Scene(.everything, filter: try ChangeFilter(collections: ["c"]))
        filtered.page([], to: 7)
        var limited = Scene(.everything) { $0.mayEvict = true }
        limited.page([], to: 7)
        // Then
        #expect(held.device.machine.absence(of: Scene.key("c/9")) == nil)
        #expect(filtered.device.machine.absence(of: Scene.key("d/9")) == nil)
        #expect(filtered.device.machine.absence(of: Scene.key("c/9")) != nil)
        #expect(limited.device.machine.absence(of: Scene.key("c/9")) == nil)
    }

    @Test func aCopyKnowsItAfterARestartToo() {
        // Given
        var scene = Scene(.everything)
        scene.page([], to: 7)
        let before = scene.device.machine.absence(of: Scene.key("c/9"))
        // When
        scene.device.crash()
        // Then
        #expect(before != nil && scene.device.machine.absence(of: Scene.key("c/9")) == before)
    }
}
