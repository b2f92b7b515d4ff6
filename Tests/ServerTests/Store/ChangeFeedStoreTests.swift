import FreshetServer
import FreshetWire
import Testing

@Suite struct ChangeFeedStoreTests {
    @Test(arguments: StoreKind.allCases)
    func theFeedHoldsTheLatestChangeOfEachRecord(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        try fixture.put("a/2", "2")
        try fixture.put("a/1", "3")
        try fixture.write("a/2", .delete)
        // When
        let all = try fixture.changes(since: .after(fixture.cursor(0)))
        // Then
        #expect(all.brief == ["3 put a/1", "4 delete a/2"])
        #expect(all.isComplete && all.reached.revision.number == 4)
        #expect(try fixture.changes(since: .after(fixture.cursor(3))).brief == ["4 delete a/2"])
        #expect(try fixture.changes(since: .start).brief == ["3 put a/1"])
        #expect(
            try fixture.changes(since: .now)
                == ScannedChanges(changes: [], reached: fixture.cursor(4), isComplete: true))
    }

    @Test(arguments: StoreKind.allCases)
    func aChangeCarriesTimeAndAuthor(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .put(json: "{}")), Write(2, "a/2", .put(json: "1")), Write(3, "a/2", .delete)], at: 1_234)
        // When
        let changes = try fixture.changes(since: .after(fixture.cursor(0))).changes
        // Then
        #expect(changes.map(\.author?.write) == [1, 3])
        #expect(changes.allSatisfy { $0.author?.client.text == "phone" && $0.modified?.milliseconds == 1_234 })
    }

    @Test(arguments: StoreKind.allCases)
    func pagesFollowEachOtherWithoutGapOrRepetition(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for number in 1...25 { try fixture.put("a/\(number)", "\(number)") }
        try fixture.invalidate(.key(RecordKey("b/1")), .collection("b", prefix: "x"), .everything)
        // When
        var seen: [String] = []
        var position = try fixture.cursor(0)
        var pages = 0
        while true {
            let page = try fixture.changes(since: .after(position), limit: 4)
            seen += page.brief
            position = page.reached
            pages += 1
            if page.isComplete { break }
        }
        // Then
        #expect(seen.count == 26)
        #expect(seen.last == "28 sweep")
        #expect(pages == 7)
        #expect(position.revision.number == 28)
    }

    @Test(arguments: StoreKind.allCases)
    func aPageIsBoundedByBytesButNeverEmptyForThem(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for number in 1...4 { try fixture.put("a/\(number)", "[\(number)]") }
        func page(_ bytes: Int, _ inline: Int) throws -> ScannedChanges? {
            let query = ChangeQuery(since: .start, byteLimit: bytes, inlineLimit: inline)
            guard case .changes(let page) = try fixture.store.changes(query, in: fixture.namespace).value else { return nil }
            return page
        }
        // When, then
        #expect(try page(7, 100)?.brief == ["1 put a/1", "2 put a/2"])
        #expect(try page(0, 100)?.brief == ["1 put a/1"])
        #expect(try page(0, 2)?.brief.last == "4 put a/4 without its 3 bytes")
        #expect(try page(0, 3)?.isComplete == false)
        #expect(try page(0, -1)?.isComplete == true)
    }

    @Test(arguments: StoreKind.allCases)
    func aFilterThatMatchesLittleStillMovesForward(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for number in 1...20 { try fixture.put("a/\(number)", "1") }
        try fixture.put("b/1", "1")
        // When
        let filter = try ChangeFilter(collections: ["b"])
        let first = try fixture.changes(since: .start, filter: filter, scanLimit: 15)
        let second = try fixture.changes(since: .after(fixture.cursor(15)), filter: filter, scanLimit: 15)
        // Then
        #expect(first.changes.isEmpty && !first.isComplete && first.reached.revision.number == 15)
        #expect(second.brief == ["21 put b/1"] && second.isComplete)
    }

    @Test(arguments: StoreKind.allCases)
    func filtersChooseCollectionsAndPrefixes(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for key in ["a/eu-1", "a/us-1", "b/eu-1", "c/eu-1"] { try fixture.put(key, "1") }
        try fixture.write("b/eu-1", .delete)
        try fixture.invalidate(
            .key(RecordKey("a/eu-9")), .key(RecordKey("d/1")), .collection("a", prefix: "eu-5"), .collection("c", prefix: "us"))
        func brief(_ collections: [String], _ prefix: String = "") throws -> [String] {
            try fixture.changes(since: .after(fixture.cursor(0)), filter: ChangeFilter(collections: collections, prefix: prefix)).brief
        }
        // When, then
        #expect(try brief(["a"]) == ["1 put a/eu-1", "2 put a/us-1", "6 invalidate a/eu-9", "8 sweep a/eu-5"])
        #expect(try brief(["b", "d"]) == ["5 delete b/eu-1", "7 invalidate d/1"])
        #expect(try brief([], "eu") == ["1 put a/eu-1", "4 put c/eu-1", "5 delete b/eu-1", "6 invalidate a/eu-9", "8 sweep a/eu-5"])
        #expect(try brief(["c"], "eu-1") == ["4 put c/eu-1"])
        #expect(try brief(["e"]) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func anInvalidationTakesARevisionAndLeavesTheRecordItsOwn(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        // When
        let revision = try fixture.invalidate(.key(RecordKey("a/1")), .key(RecordKey("a/none")))
        // Then
        #expect(revision.number == 3)
        #expect(try fixture.store.record(RecordKey("a/1"), in: fixture.namespace).value?.revision.number == 1)
        #expect(try fixture.changes(since: .after(fixture.cursor(0))).brief == ["1 put a/1", "2 invalidate a/1", "3 invalidate a/none"])
        #expect(try fixture.changes(since: .start).brief == ["1 put a/1"])
    }

    @Test(arguments: StoreKind.allCases)
    func newerInvalidationsTakeThePlaceOfWhatTheyCover(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        func brief() throws -> [String] { try fixture.changes(since: .after(fixture.cursor(0))).brief }
        // When, then: the same key again
        try fixture.invalidate(.key(RecordKey("a/eu-1")), .key(RecordKey("a/us-1")), .key(RecordKey("a/eu-1")))
        #expect(try brief() == ["2 invalidate a/us-1", "3 invalidate a/eu-1"])
        // A sweep covers keys and narrower sweeps, not others.
        try fixture.invalidate(.collection("a", prefix: "eu-9"), .collection("b", prefix: "eu"), .collection("a", prefix: "eu"))
        #expect(try brief() == ["2 invalidate a/us-1", "5 sweep b/eu", "6 sweep a/eu"])
        // A write makes its key's invalidation superfluous; a sweep stays.
        try fixture.put("a/us-1", "1")
        #expect(try brief() == ["5 sweep b/eu", "6 sweep a/eu", "7 put a/us-1"])
        try fixture.invalidate(.collection("b", prefix: ""))
        #expect(try brief() == ["6 sweep a/eu", "7 put a/us-1", "8 sweep b/"])
        try fixture.invalidate(.everything)
        try fixture.invalidate(.everything)
        #expect(try brief() == ["7 put a/us-1", "10 sweep"])
    }

    @Test(arguments: StoreKind.allCases)
    func compactionForgetsOldDeletesAndExpiresOlderCursors(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1", at: 100)
        try fixture.put("a/2", "1", at: 100)
        try fixture.put("a/3", "1", at: 100)
        try fixture.write("a/1", .delete, at: 200)
        try fixture.invalidate(.key(RecordKey("b/1")), at: 300)
        try fixture.write("a/2", .delete, at: 400)
        // When
        let forgotten = try fixture.compact(before: 400, limit: 1)
        // Then
        #expect(forgotten == 2)
        #expect(try fixture.store.state(of: fixture.namespace).forgotten.number == 5)
        #expect(try fixture.refusal(since: .after(fixture.cursor(4))) == .expired)
        #expect(try fixture.refusal(since: .after(fixture.cursor(0))) == .expired)
        #expect(try fixture.changes(since: .after(fixture.cursor(5))).brief == ["6 delete a/2"])
        #expect(try fixture.changes(since: .start).brief == ["3 put a/3"])
        #expect(try fixture.compact(before: 401) == 1)
        #expect(try fixture.compact(before: 10_000) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func aReaderFromNothingIsNotExpiredByDeletesOfBeforeItBegan(_ kind: StoreKind) throws {
        // Given records with small revisions, and a forgotten delete with a high one
        let fixture = try StoreFixture(kind)
        for number in 1...4 { try fixture.put("a/\(number)", "1") }
        try fixture.put("a/5", "1", at: 1)
        try fixture.write("a/5", .delete, at: 1)
        try fixture.compact(before: 2)
        try fixture.put("a/6", "1")
        try fixture.write("a/6", .delete)
        // When
        let first = try fixture.changes(since: .start, limit: 2)
        // Then its cursor has the head at which it started, and the next page is found by that
        #expect(first.brief == ["1 put a/1", "2 put a/2"])
        #expect(first.reached.origin?.number == 8)
        #expect(try fixture.refusal(since: .after(fixture.cursor(2))) == .expired)
        let second = try fixture.changes(since: .after(first.reached))
        #expect(second.brief == ["3 put a/3", "4 put a/4"])
        #expect(try second.isComplete && second.reached == fixture.cursor(8))
        // A delete that was forgotten after the reader started does expire its cursor.
        try fixture.put("a/7", "1", at: 3)
        try fixture.write("a/7", .delete, at: 3)
        try fixture.compact(before: 4)
        #expect(try fixture.refusal(since: .after(first.reached)) == .expired)
    }

    @Test(arguments: StoreKind.allCases)
    func foreignCursorsAreRefused(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        let foreign = Cursor(epoch: try #require(Epoch("foreign")), revision: .zero)
        // When, then
        #expect(try fixture.refusal(since: .after(foreign)) == .epochChanged)
        #expect(try fixture.refusal(since: .after(fixture.cursor(2))) == .ahead)
        #expect(try fixture.refusal(since: .after(fixture.cursor(1))) == nil)
        let (epoch, beyond) = (try fixture.cursor(1).epoch, try #require(Revision(2)))
        for goal in [Cursor.Goal.origin(beyond), .head(beyond)] {
            #expect(try fixture.refusal(since: .after(Cursor(epoch: epoch, revision: .zero, goal: goal))) == .ahead)
        }
        let state = try fixture.store.state(of: fixture.namespace)
        for refusal in [CursorRefusal.ahead, .epochChanged, .expired] {
            #expect(refusal.problem(for: foreign, in: state).status == 410)
        }
    }

    @Test("a history that continues another states where its readers go on, and no other history does")
    func readersOfAnEarlierHistoryContinue() throws {
        // Given
        let before = MemoryRecordStore(seed: 1)
        let fixture = try StoreFixture(over: before)
        for number in 1...3 { try fixture.put("a/\(number)", "1") }
        let old = try fixture.cursor(3)
        // When
        let promoted = MemoryRecordStore(promoting: before.backup, seed: 2)
        let state = promoted.state(of: fixture.namespace)
        // Then
        func continuation(_ revision: Int64, _ epoch: Epoch = old.epoch, goal: Cursor.Goal? = nil) -> Problem.Continuation? {
            let cursor = Cursor(epoch: epoch, revision: Revision(revision) ?? .zero, goal: goal)
            return CursorRefusal.epochChanged.problem(for: cursor, in: state).continuation
        }
        #expect(state.epoch != old.epoch && state.head == old.revision)
        #expect(continuation(2)?.cursor == Cursor(epoch: state.epoch, revision: try #require(Revision(2))))
        #expect(continuation(2)?.fork == old.revision)
        #expect(continuation(5)?.cursor == state.cursor)
        #expect(continuation(2, try #require(Epoch("foreign"))) == nil)
        #expect(continuation(2, goal: .origin(old.revision)) == nil)
        // A page left out what a change up to there replaces, and the history has all of those, or lacks one
        #expect(continuation(2, goal: .head(old.revision)) == continuation(2))
        #expect(continuation(2, goal: .head(try #require(Revision(4)))) == nil)
    }
}
