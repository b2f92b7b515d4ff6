import FreshetWire
import Testing

@testable import FreshetClient

@Suite("A list of a collection that a device may hold in part") struct ListMachineTests {
    private static func held(_ keys: String...) -> CallResult { .listed(held: keys.map(Scene.key), read: []) }

    private static func reads(_ scene: Scene) -> [String] {
        scene.fetches.flatMap { request -> [String] in
            switch request.kind {
            case .record(let key, _, _): [key.description]
            case .reads(let reads): reads.items.map(\.key.description)
            default: []
            }
        }
    }

    private static func record(_ key: String, _ revision: Int64, _ value: String = "1") -> Record {
        Scene.record(Scene.key(key), revision, Scene.json(value))
    }

    /// Answers the reads of a list together.
    private static func answer(_ records: [Record], missing: [String] = [], at number: Int64 = 10, _ scene: inout Scene) {
        scene.answerFetch(.reads(ReadsResponse(records: records, missing: missing.map(Scene.key), cursor: Scene.position(number))))
    }

    // MARK: Differences

    @Test("reads what the device lacks, holds in an earlier version, or holds and the server does not list; and nothing else")
    func differences() {
        // Given a device that holds a current record, an earlier version of one, and one that is gone
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 1, "1"), Scene.put("c/2", 2, "1"), Scene.put("c/4", 4, "1")])
        // When a list has the first, a later version of the second, and another
        let caller = scene.list()
        scene.answerList(["c/1": 1, "c/2": 11, "c/3": 3], at: 12)
        // Then the others are read
        #expect(Self.reads(scene) == ["c/2", "c/3", "c/4"])
        Self.answer([Self.record("c/2", 11, "2"), Self.record("c/3", 3)], missing: ["c/4"], at: 12, &scene)
        #expect(scene.device.answers[caller] == Self.held("c/1", "c/2", "c/3"))
        #expect(scene.text("c/2") == "2" && scene.view("c/4").value == .absent)
    }

    @Test("reads every record if all must be new")
    func fresh() {
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 1, "1")])
        // When
        let caller = scene.list(.records(mustBeNew: true))
        scene.answerList(["c/1": 1])
        // Then the held record is compared
        guard case .record(Scene.key("c/1"), .some, _)? = scene.fetches.first?.kind else { Issue.record("not compared"); return }
        scene.answerFetch(.notModified(Scene.position(10)))
        #expect(scene.device.answers[caller] == Self.held("c/1"))
    }

    @Test("of ids reads only where device and server differ about the existence of a record")
    func ids() {
        // Given a device that holds a record, and knows that there was another
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 1, "1")])
        _ = scene.fetch("c/2")
        scene.answerFetch(.missing(Scene.position(10)))
        // When a list has that one and an unknown one, and not the first
        let caller = scene.list(.ids)
        scene.answerList(["c/2": 11, "c/3": 3], at: 12)
        // Then
        #expect(Self.reads(scene) == ["c/1", "c/2"])
        Self.answer([Self.record("c/2", 11)], missing: ["c/1"], at: 12, &scene)
        #expect(scene.device.answers[caller] == Self.held("c/2", "c/3"))
        #expect(scene.view("c/3").value == .unknown)
    }

    @Test("shows the device's writes over the server's records")
    func overlay() {
        // Given writes that wait for their verdicts
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 1, "1")])
        scene.put("c/5", "5")
        _ = scene.set("c/1", .delete)
        // When
        let (ids, records) = (scene.list(.ids), scene.list())
        scene.answerList(["c/1": 1])
        scene.answerList(["c/1": 1])
        // Then a pending removal is among the records, and not among the ids
        #expect(scene.device.answers[ids] == Self.held("c/5"))
        #expect(scene.device.answers[records] == Self.held("c/1", "c/5"))
    }

    @Test("reads records that the disk evicts before its end, and returns those that the disk does not take")
    func evicted() {
        // Given a list that reads one record of two
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 1, "1")])
        let caller = scene.list()
        scene.answerList(["c/1": 1, "c/2": 2])
        #expect(Self.reads(scene) == ["c/2"])
        // When the other is evicted, and the disk is full
        scene.device.evict(Scene.key("c/1"))
        scene.answerFetch(.record(Self.record("c/2", 2), Scene.position(10)), settles: false)
        scene.device.failNext()
        scene.device.settleDisk()
        // Then that one is read too
        #expect(Self.reads(scene) == ["c/1"])
        scene.answerFetch(.record(Self.record("c/1", 1), Scene.position(10)))
        guard case .listed(let held, let read)? = scene.device.answers[caller] else { Issue.record("no list"); return }
        #expect(held == [Scene.key("c/1")])
        #expect(read.map(\.key) == [Scene.key("c/2")] && read.first?.value == .content(Scene.json("1")))
    }

    @Test("reads records outside of the filter, whatever the disk has of them")
    func uncovered() throws {
        // Given a device that follows another collection and has read a record of this one
        var scene = Scene.live(.everything, filter: try ChangeFilter(collections: ["d"]))
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Self.record("c/1", 1), Scene.position(10)))
        // When
        let caller = scene.list()
        scene.answerList(["c/1": 1])
        // Then
        #expect(Self.reads(scene) == ["c/1"])
        scene.answerFetch(.record(Self.record("c/1", 1, "2"), Scene.position(10)))
        guard case .listed(let held, let read)? = scene.device.answers[caller] else { Issue.record("no list"); return }
        #expect(held == [] && read.map(\.value) == [.content(Scene.json("2"))])
    }

    // MARK: Pages

    @Test("continues from page to page, with smaller pages after one that was too large")
    func pages() {
        var scene = Scene.live(.cachedKeys)
        let caller = scene.list(.ids)
        // When the first page is too large
        scene.replyToList(.tooLarge("more than 100 bytes"))
        // Then half is asked for
        #expect(scene.list?.kind == .list("c", after: nil, limit: 500))
        scene.answerList(["c/1": 1], next: "1")
        #expect(scene.list?.kind == .list("c", after: "1", limit: 500))
        scene.answerList(["c/2": 2], at: 11)
        #expect(scene.device.answers[caller] == Self.held("c/1", "c/2"))
    }

    @Test("repeats a page that is older than the device's position, and is outdated after the fourth")
    func outdated() {
        var scene = Scene.live(.cachedKeys)
        let caller = scene.list(.ids)
        for _ in 1...4 {
            #expect(scene.device.answers[caller] == nil)
            scene.answerList(["c/1": 1], at: 9)
            scene.device.fireTimer()
        }
        #expect(scene.failure(caller) == .outdated)
    }

    @Test("refuses a page of another collection, and one that does not go on")
    func malformed() {
        var scene = Scene.live(.cachedKeys)
        let (foreign, endless) = (scene.list(.ids), scene.list(.ids))
        scene.answerList(["d/1": 1])
        #expect(scene.failure(foreign) == .malformed("the list has records of another collection"))
        scene.answerList(["c/1": 1], next: "1")
        scene.answerList([:], next: "1")
        #expect(scene.failure(endless) == .malformed("the list's next page is not after this one"))
    }

    @Test("asks once for a fresh token, if the app gives tokens", arguments: [true, false])
    func token(hasToken: Bool) {
        var scene = Scene.live(.cachedKeys) { $0.hasToken = hasToken }
        let caller = scene.list(.ids)
        scene.replyToList(.problem(Problem(.unauthorized, "no"), cursor: nil, retryAfter: nil))
        #expect(scene.list?.needsFreshToken == (hasToken ? true : nil))
        if hasToken { scene.replyToList(.problem(Problem(.unauthorized, "no"), cursor: nil, retryAfter: nil)) }
        guard case .refused(let problem)? = scene.failure(caller) else { Issue.record("not refused"); return }
        #expect(problem.code == .unauthorized)
    }

    @Test("ends when its page has taken as long as a read may take")
    func deadline() {
        var scene = Scene.live(.cachedKeys)
        let caller = scene.list(.ids)
        #expect(scene.list?.timeout == scene.device.settings.readTimeout)
        scene.pass(scene.device.settings.readTimeout)
        #expect(scene.failure(caller) == .offline(.watchdog))
    }

    // MARK: Resets and clears

    @Test("begins again when the server's history is another")
    func reset() {
        // Given a list that has a page
        var scene = Scene.live(.cachedKeys)
        let caller = scene.list(.ids)
        scene.answerList(["c/1": 1], next: "1")
        // When the next one is of another history
        scene.answerList(["c/2": 2], at: 3, "b")
        scene.page([], to: 3, "b")
        // Then it begins again there
        #expect(scene.list?.kind == .list("c", after: nil, limit: 1_000))
        scene.answerList(["c/2": 2], at: 3, "b")
        #expect(scene.device.answers[caller] == Self.held("c/2"))
    }

    @Test("ends with a clear, in every step")
    func cleared() throws {
        for steps in 0...2 {
            var scene = Scene.live(.cachedKeys)
            let (caller, observer) = (scene.list(), scene.list(.observers))
            let late = try #require(scene.list)
            if steps > 0 { scene.answerList(["c/1": 1]) }
            if steps > 1 { scene.answerFetch(.record(Self.record("c/1", 1), Scene.position(10)), settles: false) }
            // When
            scene.device.handle(.clear(newClient: try ClientIdentifier("other"), CallerID(99)))
            scene.device.settleDisk()
            scene.device.reply(late.id, .list(RecordList(records: [], next: nil, cursor: Scene.position(10))))
            // Then
            #expect(scene.failure(caller) == .cleared && scene.failure(observer) == .cleared)
            #expect(scene.list == nil && scene.fetches.isEmpty)
        }
    }

    @Test("that is abandoned sends nothing more")
    func abandoned() {
        var scene = Scene.live(.cachedKeys)
        let caller = scene.list()
        scene.device.handle(.abandon(caller))
        #expect(scene.list == nil && scene.device.answers[caller] == nil)
    }

    // MARK: Observers

    @Test("for an observer is repeated with back-off until the disk has the records")
    func observers() {
        var scene = Scene.live(.cachedKeys)
        let caller = scene.list(.observers)
        // When the first page is cut, and the disk does not take the record
        scene.replyToList(.garbage("cut"))
        #expect(scene.list == nil)
        scene.device.fireTimer()
        scene.answerList(["c/1": 1])
        scene.answerFetch(.record(Self.record("c/1", 1), Scene.position(10)), settles: false)
        scene.device.failNext()
        scene.device.settleDisk()
        // Then it begins again
        #expect(scene.list == nil && scene.device.answers[caller] == nil)
        scene.device.fireTimer()
        scene.answerList(["c/1": 1])
        scene.answerFetch(.record(Self.record("c/1", 1), Scene.position(10)))
        #expect(scene.device.answers[caller] == .listed(held: [], read: []))
        #expect(scene.text("c/1") == "1")
    }

    @Test("for an observer reads the other records beside one that is too large, and waits until the device is live again")
    func large() {
        var scene = Scene.live(.cachedKeys) { $0.fetchKeys = 1 }
        let caller = scene.list(.observers)
        scene.answerList(["c/1": 1, "c/2": 2])
        // When
        scene.answerFetch(.tooLarge("more than 100 bytes"))
        scene.answerFetch(.record(Self.record("c/2", 2), Scene.position(10)))
        #expect(scene.text("c/2") == "1" && scene.device.answers[caller] == nil)
        scene.page([], to: 10)
        scene.pass(3_600_000)
        #expect(scene.list == nil)
        // Then the list follows when the device is live again
        scene.page([], to: 10)
        scene.answerList(["c/2": 2])
        #expect(scene.device.answers[caller] == .listed(held: [], read: []))
    }

    @Test("fails at once while the server cannot be reached, but for an observer")
    func offline() {
        // Given a device whose poll was lost and whose next attempt failed
        var scene = Scene.live(.cachedKeys)
        for _ in 1...2 {
            scene.replyToFeed(.failure(.unreachable("no route")))
            scene.device.fireTimer()
        }
        // When
        let (caller, observer) = (scene.list(), scene.list(.observers))
        // Then
        #expect(scene.failure(caller) == .offline(.unreachable("no route")))
        #expect(scene.list == nil && scene.device.answers[observer] == nil)
        // When it is live again
        scene.page([], to: 10)
        // Then
        #expect(scene.list != nil)
    }
}
