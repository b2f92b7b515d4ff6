// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// A device treats a record as current only while its subscription covers the key, and has covered it without a gap
/// since the record's position (rule 9).
@Suite("Coverage") struct CoverageTests {
    private static func filter(_ collections: String..., prefix: String = "") -> ChangeFilter {
        try! ChangeFilter(collections: collections, prefix: prefix)
    }

    /// The next process on the same disk, with another filter.
    private static func restart(_ scene: inout Scene, _ filter: ChangeFilter) {
        let disk = scene.device.store
        var settings = scene.device.settings
        settings.filter = filter
        scene.device = ModelDevice(settings)
        scene.device.declinesToContinue = true
        scene.device.store = disk
        scene.device.start()
        scene.device.settleDisk()
    }

    private static func answer(_ scene: inout Scene, _ key: String, _ revision: Int64, _ value: String, at position: Int64) {
        scene.answerFetch(.record(Scene.record(Scene.key(key), revision, Scene.json(value)), Scene.position(position)))
    }

    // MARK: Reads

    @Test("a record that was read outside of the filter is given to its caller and not kept", arguments: [true, false])
    func readOutside(copies: Bool) {
        // Given
        var scene = Scene.live(copies ? .everything : .cachedKeys, filter: Self.filter("products"))
        // When
        let caller = scene.fetch("orders/1")
        Self.answer(&scene, "orders/1", 9, "1", at: 12)
        // Then
        guard case .views(let views)? = scene.device.answers[caller] else { Issue.record("no answer"); return }
        #expect(views.map(\.value) == [.content(Scene.json("1"))])
        #expect(scene.stored("orders/1") == nil && scene.view("orders/1").value == .unknown)
        #expect(!scene.device.publications.contains { if case .view(let view) = $0 { view.key == Scene.key("orders/1") } else { false } })
    }

    @Test("a record inside of the filter by its collection and outside by its id is not kept either")
    func readOutsideOfPrefix() {
        // Given
        var scene = Scene.live(.everything, filter: Self.filter("products", prefix: "a"))
        // When
        _ = scene.fetch("products/b")
        Self.answer(&scene, "products/b", 9, "1", at: 12)
        // Then
        #expect(scene.stored("products/b") == nil)
    }

    @Test("a later read of a record outside is no older than the earlier one, also of another process")
    func floor() {
        // Given a read as of 12, while the feed is at 10
        var scene = Scene.live(.everything, filter: Self.filter("products"))
        _ = scene.fetch("orders/1")
        Self.answer(&scene, "orders/1", 11, "new", at: 12)
        #expect(scene.device.store.state.floor == Scene.position(12))
        // When another process gets the answer of a server that lags
        Self.restart(&scene, Self.filter("products"))
        let caller = scene.fetch("orders/1")
        Self.answer(&scene, "orders/1", 9, "old", at: 11)
        // Then it asks again
        #expect(scene.device.answers[caller] == nil)
        scene.pass(1_000)
        Self.answer(&scene, "orders/1", 11, "new", at: 12)
        guard case .views(let views)? = scene.device.answers[caller] else { Issue.record("no answer"); return }
        #expect(views.map(\.value) == [.content(Scene.json("new"))])
    }

    @Test("a position that the feed has passed is not stored")
    func floorBehindFeed() {
        // Given
        var scene = Scene.live(.everything, filter: Self.filter("products"))
        // When
        _ = scene.fetch("orders/1")
        Self.answer(&scene, "orders/1", 9, "1", at: 10)
        // Then
        #expect(scene.device.store.state.floor == nil)
    }

    // MARK: Writes

    @Test("a write outside is shown until its verdict, and leaves nothing", arguments: [true, false])
    func writeOutside(isPut: Bool) {
        // Given
        var scene = Scene.live(.everything, filter: Self.filter("products"))
        // When
        _ = scene.set("orders/1", isPut ? .put(Scene.json("1")) : Scene.increment())
        // Then
        #expect(scene.isPending("orders/1") && scene.text("orders/1") == (isPut ? "1" : nil))
        // When
        scene.results([Scene.applied(1, 12)], at: 12)
        // Then
        #expect(scene.verdict(1) == .applied(Scene.revision(12)))
        #expect(scene.view("orders/1") == KeyView(Scene.key("orders/1"), nil) && scene.stored("orders/1") == nil)
        #expect(scene.row(1) == nil && scene.device.store.watermarks.isEmpty)
        #expect(scene.fetches.isEmpty, "nothing is read that the device would not keep")
        #expect(scene.device.store.state.floor == Scene.position(12))
    }

    @Test("an increment that the record which was read last could not take goes to the server")
    func incrementBelowSeen() {
        // Given a record outside that was 1 when it was read
        var scene = Scene.live(.everything, filter: Self.filter("products"))
        let seen = Entry(
            key: Scene.key("orders/1"), epoch: Scene.position(1).epoch, revision: Scene.revision(9), asOf: Scene.revision(12), pass: 1,
            content: Scene.json("{\"n\":1}"), verifiedAt: Timestamp(milliseconds: 0), origin: .fetch)
        var increment = Increment(path: try! JSONPointer("/n"), by: .integer(-2))
        increment.minimum = .integer(0)
        // When
        let request = SetRequest(callerID: CallerID(99), key: seen.key, operation: .increment(increment), base: seen)
        scene.device.handle(.set(request))
        scene.device.settleDisk()
        // Then
        #expect(scene.failure(CallerID(99)) == nil && scene.isPending("orders/1"))
        #expect(scene.batch.map(\.key) == [seen.key])
    }

    @Test("a conditional write outside refers to the record that was read last")
    func conditionalWrite() {
        // Given
        var scene = Scene.live(.everything, filter: Self.filter("products"))
        let seen = Entry(
            key: Scene.key("orders/1"), epoch: Scene.position(1).epoch, revision: Scene.revision(9), asOf: Scene.revision(12), pass: 1,
            content: Scene.json("1"), verifiedAt: Timestamp(milliseconds: 0), origin: .fetch)
        // When
        let request = SetRequest(
            callerID: CallerID(99), key: seen.key, operation: .put(Scene.json("2")), policy: .rejectIfChanged, base: seen)
        scene.device.handle(.set(request))
        scene.device.settleDisk()
        // Then
        #expect(scene.batch.map(\.ifRevision) == [Scene.revision(9)])
        // When
        let record = Scene.record(seen.key, 11, Scene.json("3"))
        scene.results([Scene.rejected(1, current: record)], at: 12)
        // Then the rejection keeps the record for its user, and the device keeps none
        #expect(scene.device.store.rejections.first?.problem.current == record)
        #expect(scene.stored("orders/1") == nil && scene.view("orders/1").value == .unknown)
    }

    @Test("a merge of a write outside gets the server's record, which leaves with the write")
    func mergeOutside() {
        // Given
        var scene = Scene.live(.everything, filter: Self.filter("products"))
        scene.device.handle(.registered(MergeName("m")))
        let seen = Entry(
            key: Scene.key("orders/1"), epoch: Scene.position(1).epoch, revision: Scene.revision(9), asOf: Scene.revision(12), pass: 1,
            content: Scene.json("1"), verifiedAt: Timestamp(milliseconds: 0), origin: .fetch)
        scene.device.handle(
            .set(
                SetRequest(
                    callerID: CallerID(99), key: seen.key, operation: .put(Scene.json("2")), policy: .merge(MergeName("m")), base: seen)))
        scene.device.settleDisk()
        // When
        scene.results([Scene.rejected(1, current: Scene.record(seen.key, 11, Scene.json("3")))], at: 12)
        // Then
        let merge = scene.device.merges.first
        #expect(merge?.base == Scene.json("1") && merge?.mine == Scene.json("2") && merge?.theirs == Scene.json("3"))
        // When
        if let merge { scene.device.handle(.merged(merge.writeID, .put(Scene.json("4")), generation: merge.generation)) }
        scene.device.settleDisk()
        #expect(scene.batch.map(\.ifRevision) == [Scene.revision(11)])
        scene.results([Scene.applied(2, 13)], at: 13)
        // Then
        #expect(scene.stored("orders/1") == nil && scene.device.store.rows.isEmpty && scene.device.store.watermarks.isEmpty)
    }

    // MARK: Other settings at a start

    @Test("a device that follows less drops the rest at once, and continues from its position without the network")
    func narrowing() {
        // Given
        var scene = Scene.live(
            .everything, filter: Self.filter("products", "orders"),
            holding: [Scene.put("products/1", 4, "1"), Scene.put("orders/1", 5, "2")])
        // When
        Self.restart(&scene, Self.filter("products"))
        // Then
        #expect(scene.text("products/1") == "1" && scene.view("orders/1").value == .unknown && scene.stored("orders/1") == nil)
        #expect(scene.since == .after(Scene.position(10)) && scene.device.store.state.revalidation == .complete)
        #expect(scene.device.store.state.whole == Self.filter("products"))
    }

    @Test("rows outside of the filter are not shown, although the disk does not take the change of settings")
    func narrowingOnFullDisk() {
        // Given
        var scene = Scene.live(.everything, filter: .all, holding: [Scene.put("products/1", 4, "1"), Scene.put("orders/1", 5, "2")])
        let disk = scene.device.store
        var settings = scene.device.settings
        settings.filter = Self.filter("products")
        scene.device = ModelDevice(settings)
        scene.device.store = disk
        scene.device.start()
        // When
        scene.device.failNext(.full)
        // Then
        #expect(scene.stored("orders/1") != nil && scene.view("orders/1").value == .unknown)
        // When a page comes
        scene.page([], to: 12)
        // Then
        #expect(scene.stored("orders/1") == nil && scene.device.store.state.scope == settings.scope)
    }

    @Test("waiting writes outside survive a narrowing, over no record once they have left")
    func narrowingUnderWrites() {
        // Given
        var scene = Scene.live(.everything, filter: .all, holding: [Scene.put("orders/1", 5, "{\"n\":1}")])
        _ = scene.set("orders/1", Scene.increment(2))
        // When
        Self.restart(&scene, Self.filter("products"))
        // Then
        #expect(scene.isPending("orders/1") && scene.text("orders/1") == "{\"n\":3}")
        // When
        scene.answerStatus(last: 0, at: 10)
        scene.results([Scene.applied(1, 12)], at: 12)
        // Then
        #expect(scene.stored("orders/1") == nil && scene.view("orders/1") == KeyView(Scene.key("orders/1"), nil))
    }

    @Test("a device that follows more reads the new part from nothing, and keeps the other part until it is verified")
    func widening() {
        // Given a device that has followed less for a while, in which a record was deleted
        var scene = Scene.live(
            .everything, filter: Self.filter("products", "orders"),
            holding: [Scene.put("products/1", 4, "1"), Scene.put("orders/1", 5, "2")])
        Self.restart(&scene, Self.filter("products"))
        scene.page([], to: 20)
        // When
        Self.restart(&scene, Self.filter("products", "orders"))
        // Then
        #expect(scene.since == .start && scene.view("orders/1").value == .unknown && scene.text("products/1") == "1")
        #expect(scene.device.machine.absence(of: Scene.key("orders/1")) == nil, "nothing is known of the part")
        #expect(scene.device.store.state.whole == Self.filter("products"))
        // When
        scene.page([Scene.put("products/1", 4, "1"), Scene.put("orders/2", 15, "3")], to: 20)
        // Then
        #expect(scene.view("orders/1").value == .unknown && scene.text("orders/2") == "3" && scene.text("products/1") == "1")
        #expect(scene.device.store.state.whole == Self.filter("products", "orders"))
    }

    @Test("the order and the repetition of collections make no other settings")
    func sameSettings() {
        // Given
        var scene = Scene.live(.everything, filter: Self.filter("a", "b"), holding: [Scene.put("a/1", 4, "1")])
        // When
        Self.restart(&scene, Self.filter("b", "a", "b"))
        // Then
        #expect(scene.since == .after(Scene.position(10)))
    }

    @Test("a file of an earlier version, which may hold records outside, loses them and nothing else")
    func earlierVersion() throws {
        // Given a state as an earlier version stores it
        let scene = Scene.live(.everything, filter: Self.filter("products", prefix: "1:"), holding: [Scene.put("products/1:2", 4, "1")])
        let json = String(decoding: scene.device.store.state.json, as: UTF8.self)
        let earlier = json.replacing("\"2:everything", with: "\"everything").replacing("\"whole\":\"products:1:\",", with: "")
        #expect(earlier != json)
        let state = try SyncState(json: Array(earlier.utf8))
        // Then
        #expect(state.whole == Self.filter("products", prefix: "1:"))
        #expect(scene.device.settings.narrows(state.scope) && state.scope != scene.device.settings.scope)
        #expect(!scene.device.settings.narrows("before refreshes") && !scene.device.settings.narrows("held:products:1:"))
    }

    // MARK: The first copy

    @Test("the first copy states its progress until it is complete, and a reset begins no first copy")
    func firstCopy() {
        // Given
        var scene = Scene(.everything)
        #expect(scene.device.status?.firstCopy?.records == 0)
        // When half of the feed has been read
        let goal = Cursor(epoch: Scene.position(1).epoch, revision: Scene.revision(50), goal: .origin(Scene.revision(100)))
        scene.replyToFeed(.page(ChangePage(changes: [Scene.put("c/1", 50, "12345")], cursor: goal, upToDate: false)))
        // Then
        let progress = scene.device.status?.firstCopy
        #expect(progress?.records == 1 && progress?.bytes == 5 && progress?.share == 0.5)
        #expect(scene.device.store.state.isWhole("c", in: .all) == false)
        // When
        scene.page([Scene.put("c/2", 90, "1")], to: 100)
        // Then
        #expect(scene.device.status?.firstCopy == nil && scene.device.store.state.isWhole("c", in: .all))
        // When
        scene.replyToFeed(.problem(Problem(.cursorExpired, "gone"), cursor: Scene.position(200), retryAfter: nil))
        // Then
        #expect(scene.device.status?.firstCopy == nil && scene.device.store.state.isWhole("c", in: .all))
    }

    // MARK: Filters

    @Test("filters include and intersect by collections and bytes of prefixes")
    func filters() {
        // Given
        let (all, a, ab, p, pq) = (
            ChangeFilter.all, Self.filter("a"), Self.filter("a", "b"), Self.filter(prefix: "p"), Self.filter("b", prefix: "pq")
        )
        // Then
        #expect(all.includes(a) && ab.includes(a) && !a.includes(ab) && !a.includes(all) && p.includes(pq) && !pq.includes(p))
        #expect(!Self.filter(prefix: "e\u{301}").includes(Self.filter(prefix: "\u{e9}")))
        #expect(
            ab.intersection(pq) == pq && a.intersection(pq) == nil && all.intersection(ab) == ab
                && p.intersection(a) == Self.filter("a", prefix: "p"))
        #expect(Self.filter(prefix: "x").intersection(p) == nil)
        for filter in [all, a, ab, p, pq, Self.filter("a", prefix: ":\u{301},:")] { #expect(ChangeFilter(text: filter.text) == filter) }
    }
}
