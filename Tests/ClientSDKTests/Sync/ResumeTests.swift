// swift-format-ignore-file: NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// A number names its write in every history: it is never used again, and numbers that another history decided are left out.
@Suite struct ResumeTests {
    private let client = try? ClientIdentifier("device")

    /// The device knows that the history is another now.
    private func otherEpoch(_ epoch: String) -> Reply {
        .problem(Problem(.epochChanged, "another"), cursor: Scene.position(0, epoch), retryAfter: nil)
    }

    /// In history `b`, which knows no write of the device's, with two that wait after one that is decided.
    private func emptied() -> Scene {
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.results([Scene.applied(1, 11)], at: 11)
        scene.put("c/2", "2")
        scene.put("c/3", "3")
        scene.replyToFeed(otherEpoch("b"))
        return scene
    }

    @Test func aDropAndThenTheRestoreOfWhatWasBeforeItDecideEachWriteOnce() {
        // Given: a back-up that knows twenty writes
        var server = ModelServer()
        var scene = Scene()
        for number in 1...20 {
            _ = scene.set("c/\(number)", Scene.increment())
            scene.device.run(with: &server)
        }
        let backup = server
        // When the namespace is dropped, and three more are decided in the next history
        server = ModelServer(epoch: "b")
        for number in 21...23 {
            _ = scene.set("c/\(number)", Scene.increment())
            scene.device.run(with: &server)
        }
        _ = scene.set("c/24", Scene.increment())
        _ = scene.set("c/25", Scene.increment())
        // When: the back-up is restored while two wait
        server = backup
        server.epoch = Epoch("c")!
        scene.device.run(with: &server)
        // Then: they have their own verdicts, and take effect
        #expect(scene.verdict(24) == .applied(Scene.revision(21)))
        #expect(scene.verdict(25) == .applied(Scene.revision(22)))
        #expect(scene.text("c/24") == #"{"n":1}"# && scene.text("c/25") == #"{"n":1}"#)
        #expect(server.records[Scene.key("c/24")]?.author?.write == 24)
        #expect(client.flatMap { server.ledgers[$0] }?.last == 25)
        #expect(scene.device.verdicts.count == 25)
    }

    @Test func numbersAreLeftOutOnlyUntilTheServerHasGoneOn() {
        // Given
        var scene = emptied()
        scene.answerStatus(last: 0, at: 0, "b")
        #expect(scene.numbers == [2, 3] && scene.resume == true)
        // When: the answer is lost
        scene.replyToWrites(.failure(.interrupted("lost")))
        scene.device.fireTimer()
        // Then: the same again
        #expect(scene.numbers == [2, 3] && scene.resume == true)
        scene.results([Scene.applied(2, 1), Scene.applied(3, 2)], at: 2, "b")
        scene.put("c/4", "4")
        #expect(scene.numbers == [4] && scene.resume == false)
    }

    @Test func whatIsDecidedThereIsAskedForBeforeNumbersAreLeftOut() {
        // Given: 2 was decided before the back-up was taken, 3 waits
        var scene = Scene.live { $0.batchCount = 2 }
        for number in 1...3 { scene.put("c/\(number)", "\(number)") }
        scene.results([Scene.applied(1, 11)], at: 11)
        scene.replyToFeed(otherEpoch("b"))
        // When
        scene.answerStatus(last: 2, at: 12, "b")
        // Then
        #expect(scene.numbers == [2, 3] && scene.resume == false)
        scene.results([Scene.applied(2, 12), Scene.applied(3, 13)], at: 13, "b")
        #expect(scene.writes == nil && scene.device.verdicts.count == 3)
    }

    @Test func afterARestartTheGapIsLeftOut() {
        // Given
        var scene = emptied()
        scene.answerStatus(last: 0, at: 0, "b")
        // When
        scene.device.crash()
        scene.device.settleDisk()
        #expect(scene.writes == nil)
        scene.answerStatus(last: 0, at: 0, "b")
        // Then
        #expect(scene.numbers == [2, 3] && scene.resume == true)
        #expect(scene.device.store.state.nextNumber == 4)
    }

    @Test func aRestartBeforeTheAnswerAsksAgain() {
        // Given
        var scene = emptied()
        // When
        scene.device.crash()
        // Then
        #expect(scene.writes == nil)
        scene.answerStatus(last: 0, at: 0, "b")
        #expect(scene.numbers == [2, 3] && scene.resume == true)
    }

    @Test func anEmptyOutboxGoesOnFromTheNextNumber() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.results([Scene.applied(1, 11)], at: 11)
        scene.replyToFeed(otherEpoch("b"))
        scene.answerStatus(last: 0, at: 0, "b")
        // When
        scene.put("c/2", "2")
        // Then
        #expect(scene.numbers == [2] && scene.resume == true)
    }

    @Test func theFeedOfTheNewHistoryTellsNoVerdict() {
        // Given: a back-up that holds the second is restored, and its answer was lost
        var scene = emptied()
        // When
        scene.page([Scene.put("c/1", 11, "1", by: 1), Scene.put("c/2", 12, "2", by: 2)], to: 12, "b")
        // Then
        #expect(scene.verdict(2) == nil && scene.isPending("c/2") && scene.isPending("c/3"))
        scene.answerStatus(last: 2, at: 12, "b")
        #expect(scene.numbers == [2, 3] && scene.resume == false)
    }

    @Test func aWriteThatWasGivenUpStaysSo() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        let problem = Problem(.tooLarge, "too large")
        scene.replyToWrites(.problem(problem, cursor: nil, retryAfter: nil))
        #expect(scene.batch == [Write(number: 1, key: Scene.key("c/1"), operation: .delete, ifRevision: .maximum)])
        // When
        scene.replyToFeed(otherEpoch("b"))
        scene.answerStatus(last: 0, at: 0, "b")
        // Then
        #expect(scene.batch == [Write(number: 1, key: Scene.key("c/1"), operation: .delete, ifRevision: .maximum)])
        scene.results([Scene.rejected(1)], at: 0, "b")
        #expect(scene.verdict(1) == .rejected(problem))
    }

    @Test func aLastNumberBeyondAllIsRefused() {
        // Given
        var scene = emptied()
        // When
        scene.answerStatus(last: .max, at: 0, "b")
        // Then
        if case .malformed? = scene.device.status?.writeTrouble {} else { Issue.record("not reported") }
        #expect(scene.writes == nil)
    }
}
