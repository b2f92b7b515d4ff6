import FreshetWire
import Testing

@testable import FreshetClient

@Suite("A refresher of records whose values are not here or were invalidated") struct RefresherTests {
    /// A refresher with what it needs from its neighbours, in a copy that is at `a-10`.
    private struct Refreshing {
        var refresher = Refresher()
        var requests = RequestTable()
        var reader = Reader()
        let state = PartSupport.state(at: 10)
        /// Writes of the device that may have been sent.
        var rows: [OutboxRow] = []
        var uptime: Int64 = 1_000

        private var turn: Turn { PartSupport.turn(at: uptime) { $0.revalidationKeys = 3 } }
        private var rule: WatermarkRule { PartSupport.rule(state, rows) }

        /// What the disk is asked for now.
        mutating func ask() -> CachedKeyQuery? {
            var turn = turn
            refresher.advance(reader, requests, &turn)
            return turn.queries.first
        }

        /// The disk's answer. Returns the items of the request that leaves.
        mutating func load(_ keys: CachedKey...) -> [ReadsRequest.Item]? {
            var turn = turn
            refresher.take(keys, state, rule, reader, &requests, &turn)
            return if case .reads(let reads)? = turn.sent.first?.kind { reads.items } else { nil }
        }

        /// Handles the server's answer. Returns the intent to store.
        mutating func take(_ reply: Reply) -> QueuedInput? {
            guard let id = requests.all.first, let sent = requests.remove(id), case .refresh(let keys) = sent.purpose else {
                Issue.record("no request is under way")
                return nil
            }
            var turn = turn
            return refresher.take(reply, nil, to: sent, keys, &turn).inputs.first
        }

        mutating func read(_ key: String) {
            reader.refresh(large: Scene.key(key), state)
        }

        /// Lets the time pass until the refresher may go on.
        mutating func wait() { uptime = max(uptime, refresher.deadline ?? 0) }
    }

    private func held(_ key: String, _ revision: Int64, hasValue: Bool = true) -> CachedKey {
        CachedKey(key: Scene.key(key), epoch: Scene.position(1).epoch, revision: Scene.revision(revision), hasValue: hasValue)
    }

    private func query(after key: String?, limit: Int = 3) -> CachedKeyQuery {
        CachedKeyQuery(.needingRefresh, after: key.map { Scene.key($0) }, limit: limit)
    }

    private static let response = Reply.reads(ReadsResponse(records: [], missing: [], cursor: Scene.position(12)))

    @Test("it does nothing until there is something to read")
    func idle() {
        var refreshing = Refreshing()
        #expect(refreshing.ask() == nil && refreshing.refresher.deadline == nil)
    }

    @Test("it reads page by page, until the disk has no more: a value that is here is compared by its revision")
    func pages() {
        // Given
        var refreshing = Refreshing()
        refreshing.refresher.add()
        // When
        #expect(refreshing.ask() == query(after: nil))
        let items = refreshing.load(held("c/1", 3), held("c/2", 4, hasValue: false))
        // Then
        #expect(items?.map(\.key.id) == ["1", "2"] && items?.map(\.revision) == [Scene.revision(3), nil])
        #expect(refreshing.take(Self.response) != nil)
        // Nothing is asked before the disk has the response
        #expect(refreshing.ask() == nil)
        refreshing.refresher.stored(large: [])
        #expect(refreshing.ask() == query(after: "c/2"))
        // When no key is left, it looks once more at those before
        #expect(refreshing.load() == nil && refreshing.refresher.isNeeded)
        #expect(refreshing.ask() == query(after: nil))
        #expect(refreshing.load() == nil && !refreshing.refresher.isNeeded)
    }

    @Test("a refresh that is requested while it reads is read too")
    func comesMeanwhile() {
        // Given
        var refreshing = Refreshing(refresher: Refresher(isNeeded: true))
        _ = refreshing.ask()
        // When
        refreshing.refresher.add()
        // Then
        #expect(refreshing.load() == nil && refreshing.refresher.isNeeded)
        #expect(refreshing.ask() == query(after: nil))
    }

    @Test("keys that the reader reads are left to it")
    func leftToTheReader() {
        // Given
        var refreshing = Refreshing(refresher: Refresher(isNeeded: true))
        refreshing.read("c/1")
        _ = refreshing.ask()
        // When
        #expect(refreshing.load(held("c/1", 1), held("c/2", 1)).map { $0.map(\.key.id) } == ["2"])
        _ = refreshing.take(Self.response)
        refreshing.read("c/2")
        refreshing.refresher.stored(large: [Scene.key("c/2")])
        // Then it waits for both
        #expect(refreshing.ask() == nil)
        refreshing.reader = Reader()
        #expect(refreshing.ask() == query(after: "c/2"))
    }

    @Test("what cannot be read is tried again ever more seldom, and does not keep anything else waiting")
    func cannotBeRead() {
        // Given
        var refreshing = Refreshing(refresher: Refresher(isNeeded: true))
        func readAll() {
            _ = refreshing.load(held("c/1", 1))
            #expect(refreshing.take(.tooLarge("over 16 MiB")) == nil)
            _ = refreshing.ask()
            _ = refreshing.load()
        }
        #expect(refreshing.ask() != nil)
        // When
        readAll()
        // Then it looks once more at once
        #expect(refreshing.ask() == query(after: nil))
        for failures in 0..<4 {
            readAll()
            #expect(refreshing.ask() == nil && refreshing.refresher.isNeeded)
            #expect(PartSupport.delays(after: failures, at: refreshing.uptime).contains(refreshing.refresher.deadline ?? 0))
            refreshing.wait()
            #expect(refreshing.ask() == query(after: nil))
        }
        // When it has changed
        _ = refreshing.load()
        // Then
        #expect(!refreshing.refresher.isNeeded)
    }

    @Test("a response that is too large makes the next request smaller; one value that is too large is passed over")
    func tooLarge() {
        // Given
        var refreshing = Refreshing(refresher: Refresher(isNeeded: true))
        _ = refreshing.ask()
        _ = refreshing.load(held("c/1", 1), held("c/2", 1), held("c/3", 1))
        // When
        #expect(refreshing.take(.tooLarge("over 16 MiB")) == nil)
        #expect(refreshing.ask() == query(after: nil, limit: 1))
        _ = refreshing.load(held("c/1", 1))
        #expect(refreshing.take(.tooLarge("over 16 MiB")) == nil)
        // Then
        #expect(refreshing.ask() == query(after: "c/1", limit: 1))
    }

    @Test("a failure is tried again after a while, at once when the server is there again")
    func failures() {
        // Given
        var refreshing = Refreshing(refresher: Refresher(isNeeded: true))
        _ = refreshing.ask()
        _ = refreshing.load(held("c/1", 1))
        // When
        #expect(refreshing.take(PartSupport.lost) == nil)
        // Then
        #expect(refreshing.ask() == nil)
        #expect(PartSupport.delays(after: 0, at: refreshing.uptime).contains(refreshing.refresher.deadline ?? 0))
        refreshing.wait()
        #expect(refreshing.ask() == query(after: nil))
    }

    @Test("after a reset it begins again")
    func resets() {
        // Given
        var refreshing = Refreshing(refresher: Refresher(isNeeded: true))
        _ = refreshing.ask()
        _ = refreshing.load(held("c/1", 1))
        _ = refreshing.take(Self.response)
        refreshing.refresher.stored(large: [])
        // When
        refreshing.refresher.reset()
        // Then
        #expect(refreshing.ask() == query(after: nil))
    }
}
