import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import Testing

/// An app that starts its client before it opens its collections, as most do.
@Suite struct MergeAfterStartTests {
    private let directory = TemporaryDirectory()

    private static let join: MergeClosure<Note> = { conflict in
        .value(Note(text: "\(conflict.mine?.text ?? "")+\(conflict.theirs?.text ?? "")"))
    }

    @Test("a write of an earlier process waits for its merge closure, and other writes go on")
    func waitsForItsClosure() async throws {
        // Given a device that wrote offline under the merge policy, while another one changed the record, and whose process ended
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        _ = try await within { try await ann.notes.setValue(Note(text: "base"), forKey: "1").waitUntilConfirmed() }
        do {
            let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path))
            fixture.proxy.refuse()
            try await bob.offline()
            try await bob.collection("notes", merging: Self.join).setValue(Note(text: "mine"), forKey: "1", onConflict: .merge)
            await bob.stop()
        }
        _ = try await within { try await ann.notes.setValue(Note(text: "theirs"), forKey: "1").waitUntilConfirmed() }
        fixture.proxy.acceptAgain()
        // When the next process starts its client, and has opened no collection yet
        let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path))
        let status = try await first(of: bob.statuses, "the conflict") { !$0.missingMergeClosures.isEmpty }
        // Then the write waits, the status says for what, and a write to another record does not wait
        #expect(status.missingMergeClosures == ["notes": 1] && status.waitingWrites == 1)
        _ = try await within { try await bob.notes.setValue(Note(text: "other"), forKey: "2").waitUntilConfirmed() }
        #expect(bob.notes["1"]?.value?.text == "mine" && bob.notes["1"]?.isPending == true)
        // When it opens the collection with its closure
        _ = bob.collection("notes", merging: Self.join)
        // Then the write is merged, and nothing waits any more
        try await within { try await bob.waitUntilDrained() }
        #expect(bob.status.missingMergeClosures.isEmpty)
        let seen = try await first(of: ann.notes.snapshots(forKey: "1")) { $0.value?.text != "theirs" }
        #expect(seen.value?.text == "mine+theirs")
        await bob.stop()
    }
}
