// swift-format-ignore-file: NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// The rules that the disk keeps, and the forms in which rows are kept.
@Suite struct StoreRuleTests {
    private func entry(_ revision: Int64, asOf: Int64? = nil, pass: Int64 = 1, epoch: String = "a", _ value: String? = "1") -> Entry {
        Entry(
            key: Scene.key("c/1"), epoch: Epoch(epoch)!, revision: Scene.revision(revision), asOf: Scene.revision(asOf ?? revision),
            pass: pass,
            content: value.map(Scene.json), verifiedAt: Timestamp(milliseconds: 5), origin: .feed)
    }

    @Test func anEntryIsCopiedWithoutACall() {
        // Then an entry, and an operation with one, have at most the size that the compiler copies in place
        #expect(MemoryLayout<Entry>.size <= 128 && MemoryLayout<EntryOperation>.size <= 128)
        // And the compact form of an invalidation gives back the stored value
        var entry = entry(5)
        #expect(entry.invalidatedAt == nil)
        for position in [Revision.zero, Scene.revision(7), .maximum] {
            entry.invalidatedAt = position
            #expect(entry.invalidatedAt == position)
        }
        entry.invalidatedAt = nil
        #expect(entry == self.entry(5))
    }

    @Test func anEntryNeverGoesBackInAnEpoch() {
        #expect(entry(5).supersedes(entry(4)))
        #expect(entry(5).supersedes(entry(5)))
        #expect(!entry(4).supersedes(entry(5)))
        #expect(!entry(6).supersedes(entry(5, asOf: 9)))
        #expect(entry(5, pass: 2).supersedes(entry(5, asOf: 9, pass: 1)))
        #expect(!entry(4, pass: 2).supersedes(entry(5, pass: 1)))
    }

    @Test func ofTwoEpochsTheLaterPassWins() {
        #expect(entry(1, pass: 2, epoch: "b").supersedes(entry(99)))
        #expect(!entry(99, pass: 1, epoch: "b").supersedes(entry(1)))
    }

    @Test func aConfirmationIsAboutOneRevision() {
        let revalidation = Revalidation(
            key: Scene.key("c/1"), epoch: Epoch("a")!, revision: Scene.revision(4), asOf: Scene.revision(9), pass: 2,
            verifiedAt: Timestamp(milliseconds: 7))
        #expect(EntryOperation.confirm(revalidation).applied(to: entry(4), of: Scene.key("c/1"))?.asOf == Scene.revision(9))
        #expect(EntryOperation.confirm(revalidation).applied(to: entry(5), of: Scene.key("c/1")) == entry(5))
        #expect(EntryOperation.confirm(revalidation).applied(to: nil, of: Scene.key("c/1")) == nil)
    }

    @Test func anEvictionSparesWhatIsNewer() {
        let evict = EntryOperation.evict(.everything, before: Scene.position(8))
        #expect(evict.applied(to: entry(4), of: Scene.key("c/1")) == nil)
        #expect(evict.applied(to: entry(4, asOf: 8), of: Scene.key("c/1")) != nil)
        #expect(evict.applied(to: entry(99, epoch: "b"), of: Scene.key("c/1")) == nil)
    }

    @Test func whatIsKnownBeyondTheCursorIsNotEvictedForRoom() throws {
        // Given a device at 5 of its second pass
        var state = SyncState(client: try ClientIdentifier("a"))
        state.pass = 2
        state.cursor = Scene.position(5)
        // Then entries that a page on its way could set back stay
        #expect(entry(4, pass: 2).isEvictable(state) && entry(4, asOf: 5, pass: 2).isEvictable(state))
        #expect(!entry(4, asOf: 6, pass: 2).isEvictable(state) && !entry(6, pass: 1).isEvictable(state))
        // And so do verified entries of another history, since that can only be a later one
        #expect(entry(9, pass: 1, epoch: "b").isEvictable(state) && !entry(1, pass: 2, epoch: "b").isEvictable(state))
        // Without a position no verified entry may be evicted
        state.epoch = Scene.position(5).epoch
        state.apply(.cursor(nil))
        #expect(entry(4, pass: 1).isEvictable(state) && !entry(4, pass: 2).isEvictable(state))
        // Nor a verdict's record that is newer than the position that was lost: a page that is on its way may be older
        #expect(!entry(6, pass: 1).isEvictable(state))
        state.lostCursor = nil
        #expect(!entry(4, pass: 1).isEvictable(state))
    }

    @Test func onlyIfHeldStoresNothingNew() {
        #expect(EntryOperation.put(entry(4), onlyIfCached: true).applied(to: nil, of: Scene.key("c/1")) == nil)
        #expect(EntryOperation.put(entry(4), onlyIfCached: false).applied(to: nil, of: Scene.key("c/1")) == entry(4))
    }

    @Test(arguments: [
        WriteOperation.put(Scene.json(#"{"a":[1,2]}"#)), .put(Content(bytes: [0, 255], type: "image/png")), .delete,
        .patch(Array(#"{"a":null}"#.utf8)), Scene.increment(-3),
    ])
    func rowsComeBackAsTheyWere(operation: WriteOperation) throws {
        let states: [OutboxRow.State] = [
            .pending, .held, .merging(nil), .merging(Epoch("b")), .applied(Scene.position(7)), .settled(Scene.position(8, "b")),
        ]
        let preconditions: [OutboxRow.Precondition] = [.none, .revision(.zero), .revision(Scene.revision(3)), .after(LocalWriteID(2))]
        let policies: [ConflictPolicy] = [.lastWriterWins, .rejectIfChanged, .merge(MergeName("näme"))]
        for state in states {
            for precondition in preconditions {
                for policy in policies {
                    let row = OutboxRow(
                        writeID: LocalWriteID(9), number: 4, key: Scene.key("c/ä/1"), operation: operation, policy: policy,
                        precondition: precondition, baseRevision: Scene.revision(2), state: state,
                        ancestor: Scene.json("[]"), attempts: 2, created: Timestamp(milliseconds: 77))
                    #expect(try OutboxRow(json: row.json) == row)
                }
            }
        }
    }

    @Test func entriesAndStatesComeBackAsTheyWere() throws {
        for value in ["1", nil] {
            let row = entry(4, asOf: 9, pass: 3, value)
            #expect(try Entry(json: row.json) == row)
        }
        var scene = Scene.live(.cachedKeys)
        scene.put("c/1", "1")
        #expect(try SyncState(json: scene.device.store.state.json) == scene.device.store.state)
        var state = scene.device.store.state
        state.apply(.cursor(nil))
        #expect(state.lostCursor == Scene.position(10))
        #expect(try SyncState(json: state.json) == state)
        state.apply(.cursor(Scene.position(20)))
        #expect(state.lostCursor == nil)
    }

    @Test func theStoryTellsWhatHappenedAndIsBounded() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")]) { $0.historyCapacity = 4 }
        // When
        scene.page([Scene.put("c/1", 12, "2"), Scene.put("c/2", 13, "2")], to: 13)
        // Then
        let history = scene.device.machine.history(of: Scene.key("c/1")).map(\.kind)
        #expect(history.last == .changed(Scene.revision(12)))
        #expect(scene.device.machine.history(of: Scene.key("c/2")).map(\.kind) == [.changeSkipped(Scene.revision(13))])
        for number in Int64(14)...30 { scene.page([Scene.put("c/1", number, "2")], to: number) }
        #expect(scene.device.machine.history(of: Scene.key("c/1")).count == 4)
    }
}
