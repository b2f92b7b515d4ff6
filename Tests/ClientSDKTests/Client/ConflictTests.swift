import Dispatch
import Foundation
import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@Suite struct ConflictTests {
    private struct Scene {
        var fixture: ServerFixture
        var ann: SyncClient
        var bob: SyncClient
        var notes: SyncedCollection<Note>
    }

    /// Two devices that know a record, of which the second loses its network and the first then changes the record.
    private func conflict(over theirs: String = "theirs", _ merging: MergeClosure<Note>? = nil) async throws -> Scene {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        let bob = try await fixture.live(throughProxy: true)
        _ = try await within { try await ann.notes.setValue(Note(text: "base", votes: 1), forKey: "1").waitUntilConfirmed() }
        _ = try await first(of: bob.notes.snapshots(forKey: "1")) { $0.exists }
        fixture.proxy.refuse()
        try await bob.offline()
        _ = try await within { try await ann.notes.setValue(Note(text: theirs, votes: 10), forKey: "1").waitUntilConfirmed() }
        return Scene(fixture: fixture, ann: ann, bob: bob, notes: bob.collection("notes", of: Note.self, merging: merging))
    }

    @Test func theLastWriterWinsByDefault() async throws {
        let scene = try await conflict()
        let write = try await scene.notes.setValue(Note(text: "mine", votes: 2), forKey: "1")
        scene.fixture.proxy.acceptAgain()
        _ = try await within { try await write.waitUntilConfirmed() }
        let seen = try await first(of: scene.ann.notes.snapshots(forKey: "1")) { $0.value?.text == "mine" }
        #expect(seen.value == Note(text: "mine", votes: 2))
    }

    @Test func aRejectedWriteIsRolledBackAndItsWriterToldWhy() async throws {
        let scene = try await conflict()
        let rejections = scene.bob.rejections
        let write = try await scene.notes.setValue(Note(text: "mine"), forKey: "1", onConflict: .rejectIfChanged)
        // And another one behind it, which it must not hold up
        let next = try await scene.notes.setValue(Note(text: "next"), forKey: "2")
        #expect(scene.notes["1"]?.value?.text == "mine")
        scene.fixture.proxy.acceptAgain()
        // Then the verdict has the current record
        let verdict = try await within { try await write.outcome() }
        guard case .rejected(let problem) = verdict else {
            Issue.record("got \(verdict)")
            return
        }
        #expect(problem.code == .preconditionFailed)
        #expect(problem.current?.content?.bytes == Array("{\"text\":\"theirs\",\"votes\":10}".utf8))
        // And the snapshot shows that record
        let shown = try await first(of: scene.notes.snapshots(forKey: "1")) { !$0.isPending }
        #expect(shown.value == Note(text: "theirs", votes: 10))
        await #expect(throws: ClientError.rejected(problem)) { try await write.waitUntilConfirmed() }
        let rejection = try #require(try await first(of: rejections) { !$0.isEmpty }.first)
        #expect(rejection.number == write.number && rejection.problem == problem)
        _ = try await within { try await next.waitUntilConfirmed() }
    }

    @Test func theMergeClosureMakesOneOfThree() async throws {
        let scene = try await conflict { conflict in
            guard let base = conflict.base, let mine = conflict.mine, let theirs = conflict.theirs else { return .takeTheirs }
            return .value(Note(text: "\(mine.text)+\(theirs.text)", votes: theirs.votes + mine.votes - base.votes))
        }
        let write = try await scene.notes.setValue(Note(text: "mine", votes: 3), forKey: "1", onConflict: .merge)
        scene.fixture.proxy.acceptAgain()
        _ = try await within { try await write.waitUntilConfirmed() }
        let seen = try await first(of: scene.ann.notes.snapshots(forKey: "1")) { $0.value?.text == "mine+theirs" }
        #expect(seen.value?.votes == 12)
    }

    @Test("a closure that appends, appends once through two conflicts in a row")
    func twoConflicts() async throws {
        // Given a closure at whose first call the record changes once more
        let calls = Mutex(0)
        let isCalled = DispatchSemaphore(value: 0), goesOn = DispatchSemaphore(value: 0)
        let scene = try await conflict(over: "base,theirs") { conflict in
            if calls.withLock({
                $0 += 1; return $0
            }) == 1 {
                isCalled.signal()
                goesOn.wait()
            }
            let (base, mine) = (conflict.base?.text ?? "", conflict.mine?.text ?? "")
            return .value(Note(text: (conflict.theirs?.text ?? "") + mine.dropFirst(base.count)))
        }
        let write = try await scene.notes.setValue(Note(text: "base,mine", votes: 1), forKey: "1", onConflict: .merge)
        scene.fixture.proxy.acceptAgain()
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                isCalled.wait()
                done.resume()
            }
        }
        _ = try await within { try await scene.ann.notes.setValue(Note(text: "base,theirs,more"), forKey: "1").waitUntilConfirmed() }
        // When
        goesOn.signal()
        _ = try await within { try await write.waitUntilConfirmed() }
        // Then
        #expect(calls.withLock { $0 } >= 2)
        let seen = try await first(of: scene.ann.notes.snapshots(forKey: "1")) { $0.value?.text.contains("mine") == true }
        #expect(seen.value?.text == "base,theirs,more,mine")
    }

    /// More than a rejection shows, and a change brings.
    private static let large = String(repeating: "x", count: 100_000)

    @Test func aRecordThatIsTooLargeToBeShownIsReadForTheMerge() async throws {
        // Given
        let scene = try await conflict(over: Self.large) { conflict in
            guard let mine = conflict.mine, let theirs = conflict.theirs else { return .takeTheirs }
            return .value(Note(text: "\(mine.text)+\(theirs.text.count)", votes: theirs.votes))
        }
        // When
        let write = try await scene.notes.setValue(Note(text: "mine", votes: 3), forKey: "1", onConflict: .merge)
        scene.fixture.proxy.acceptAgain()
        _ = try await within { try await write.waitUntilConfirmed() }
        // Then
        let seen = try await first(of: scene.ann.notes.snapshots(forKey: "1")) { $0.value?.text.hasPrefix("mine") == true }
        #expect(seen.value == Note(text: "mine+100000", votes: 10))
    }

    @Test func aRecordThatIsTooLargeToBeShownIsWhatIsThereAfterARejection() async throws {
        // Given
        let scene = try await conflict(over: Self.large)
        // When
        let write = try await scene.notes.setValue(Note(text: "mine"), forKey: "1", onConflict: .rejectIfChanged)
        scene.fixture.proxy.acceptAgain()
        // Then the verdict names the record, and the value is read
        let verdict = try await within { try await write.outcome() }
        guard case .rejected(let problem) = verdict else {
            Issue.record("not rejected")
            return
        }
        #expect(problem.current?.content == nil && problem.current?.size ?? 0 > 100_000)
        let shown = try await first(of: scene.notes.snapshots(forKey: "1")) { !$0.isPending && $0.value?.text.count == 100_000 }
        #expect(shown.value?.votes == 10)
    }

    @Test(arguments: [true, false]) func aMergeClosureThatTakesTheirsOrThrowsRejectsTheWrite(_ throwing: Bool) async throws {
        struct Undecided: Error {}
        let scene = try await conflict { _ in
            if throwing { throw Undecided() }
            return .takeTheirs
        }
        let write = try await scene.notes.setValue(Note(text: "mine"), forKey: "1", onConflict: .merge)
        scene.fixture.proxy.acceptAgain()
        await #expect(throws: ClientError.self) { try await within { try await write.waitUntilConfirmed() } }
        let shown = try await first(of: scene.notes.snapshots(forKey: "1")) { !$0.isPending }
        #expect(shown.value?.text == "theirs")
    }

    @Test func mergingWithoutAClosureIsSaidAtOnce() async throws {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        await #expect(throws: ClientError.self) { try await ann.notes.setValue(Note(text: "x"), forKey: "1", onConflict: .merge) }
        #expect(ann.notes["1"] == nil)
    }
}
