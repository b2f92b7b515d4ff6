// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// A device at work, and short names for the events that it handles. The history is `a` by default.
struct Scene {
    var device: ModelDevice
    private var lastToken: Int64 = 0

    /// A device that has started and not heard anything.
    init(_ following: SyncSettings.Following = .cachedKeys, filter: ChangeFilter = .all, configure: (inout SyncSettings) -> Void = { _ in })
    {
        var settings = SyncSettings()
        settings.following = following
        settings.filter = filter
        configure(&settings)
        device = ModelDevice(settings)
        device.declinesToContinue = true
        device.start()
    }

    /// A device that is live at `a-10` and holds these records.
    static func live(
        _ following: SyncSettings.Following = .everything, filter: ChangeFilter = .all, holding held: [Change] = [],
        configure: (inout SyncSettings) -> Void = { _ in }
    ) -> Scene {
        var scene = Scene(following, filter: filter, configure: configure)
        if following == .everything {
            scene.page(held, to: 10)
        } else {
            scene.page([], to: 10)
            for change in held {
                guard case .put(let key, let content?, _, _) = change.effect else { continue }
                _ = scene.fetch(key)
                scene.answerFetch(.record(record(key, change.revision.number, content), position(10)))
            }
            scene.page([], to: 10)
        }
        scene.device.publications = []
        return scene
    }

    // MARK: Words

    static func key(_ text: String) -> RecordKey { try! RecordKey(text) }
    static func json(_ text: String) -> Content { Content(checkedJSON: Array(text.utf8)) }
    static func revision(_ number: Int64) -> Revision { Revision(number)! }
    static func position(_ number: Int64, _ epoch: String = "a") -> Cursor { Cursor(epoch: Epoch(epoch)!, revision: revision(number)) }

    static func record(_ key: RecordKey, _ number: Int64, _ content: Content) -> Record {
        Record(key: key, revision: revision(number), content: content, modified: Timestamp(milliseconds: number))
    }

    /// - Parameter size: the bytes of a value that is left out.
    static func put(_ key: String, _ number: Int64, _ value: String?, by write: Int64? = nil, size: Int = 1 << 20) -> Change {
        let content = value.map(json)
        return Change(
            revision: revision(number),
            effect: .put(Self.key(key), content: content, contentType: Content.json, size: content?.bytes.count ?? size),
            author: write.map { Change.Author(client: try! ClientIdentifier("device"), write: $0) })
    }

    static func delete(_ key: String, _ number: Int64, by write: Int64? = nil) -> Change {
        Change(
            revision: revision(number), effect: .delete(Self.key(key)),
            author: write.map { Change.Author(client: try! ClientIdentifier("device"), write: $0) })
    }

    static func invalidate(_ scope: InvalidationScope, _ number: Int64) -> Change {
        Change(revision: revision(number), effect: .invalidate(scope))
    }

    static func applied(_ number: Int64, _ revision: Int64?) -> WriteOutcome {
        WriteOutcome(number: number, verdict: .applied(revision.map { Self.revision($0) }))
    }

    static func rejected(_ number: Int64, _ code: ProblemCode = .preconditionFailed, current: Record? = nil) -> WriteOutcome {
        WriteOutcome(number: number, verdict: .rejected(Problem(code, "no", current: current)))
    }

    static func increment(_ amount: Int64 = 1) -> WriteOperation { .increment(path: try! JSONPointer("/n"), by: .integer(amount)) }

    // MARK: Requests under way

    var feed: RequestDescription? { device.open.first { if case .changes = $0.kind { true } else { false } } }
    var writes: RequestDescription? { device.open.first { if case .writes = $0.kind { true } else { false } } }
    var status: RequestDescription? { device.open.first { if case .clientStatus = $0.kind { true } else { false } } }
    var fetches: [RequestDescription] {
        device.open.filter { request in
            switch request.kind {
            case .record, .reads: true
            case .changes, .writes, .clientStatus, .list: false
            }
        }
    }

    var list: RequestDescription? { device.open.first { if case .list = $0.kind { true } else { false } } }
    var since: Since? { if case .changes(let since, _, _, _, _)? = feed?.kind { since } else { nil } }
    var wait: Int? { if case .changes(_, _, let wait, _, _)? = feed?.kind { wait } else { nil } }
    /// The writes under way, without their nonces, which are random.
    var batch: [Write] {
        guard case .writes(let batch)? = writes?.kind else { return [] }
        return batch.writes.map { write in
            var write = write
            write.nonce = nil
            return write
        }
    }
    /// The history that the batch under way names.
    var epoch: Epoch? { if case .writes(let batch)? = writes?.kind { batch.epoch } else { nil } }
    /// Whether the batch under way leaves out numbers that another history decided.
    var resume: Bool? { if case .writes(let batch)? = writes?.kind { batch.resume } else { nil } }
    var numbers: [Int64] { batch.map(\.number) }

    // MARK: Happenings

    /// The feed's answer. The disk takes it, unless `settles` is false.
    mutating func page(
        _ changes: [Change], to number: Int64, _ epoch: String = "a", upToDate: Bool = true, lastWrite: Int64 = 0, settles: Bool = true
    ) {
        let page = ChangePage(changes: changes, cursor: Self.position(number, epoch), upToDate: upToDate)
        replyToFeed(.page(page), lastWrite: lastWrite, settles: settles)
    }

    /// - Parameter lastWrite: the number of the device's last decided write, which the response states if the request asks for it.
    mutating func replyToFeed(_ reply: Reply, lastWrite: Int64 = 0, age: Int64 = 0, settles: Bool = true) {
        guard let feed else { Issue.record("no request for changes is under way"); return }
        device.reply(feed.id, reply, lastWrite: feed.kind.client == nil ? nil : lastWrite, age: age)
        if settles { device.settleDisk() }
    }

    mutating func replyToWrites(_ reply: Reply, lastWrite: Int64? = nil, settles: Bool = true) {
        guard let writes else { Issue.record("no batch is under way"); return }
        device.reply(writes.id, reply, lastWrite: lastWrite)
        if settles { device.settleDisk() }
    }

    /// - Parameter lastWrite: the number of the device's last decided write; that of the last outcome unless another is given.
    mutating func results(
        _ outcomes: [WriteOutcome], at number: Int64, _ epoch: String = "a", lastWrite: Int64? = nil, settles: Bool = true
    ) {
        let results = WriteResults(results: outcomes, cursor: Self.position(number, epoch))
        replyToWrites(.results(results), lastWrite: lastWrite ?? outcomes.map(\.number).max(), settles: settles)
    }

    /// The answer to the question how far the server has come with the device.
    mutating func answerStatus(last: Int64, at number: Int64, _ epoch: String = "a") {
        guard let status else { Issue.record("the server's last number is not asked for"); return }
        device.reply(status.id, .client(ClientStatus(client: device.store.state.client, last: last), Self.position(number, epoch)))
        device.settleDisk()
    }

    mutating func answerFetch(_ reply: Reply, lastWrite: Int64 = 0, settles: Bool = true) {
        guard let fetch = fetches.first else { Issue.record("no read is under way"); return }
        device.reply(fetch.id, reply, lastWrite: fetch.kind.client == nil ? nil : lastWrite)
        if settles { device.settleDisk() }
    }

    mutating func set(
        _ key: String, _ operation: WriteOperation, _ policy: ConflictPolicy = .lastWriterWins, settles: Bool = true
    ) -> CallerID {
        lastToken += 1
        let key = Self.key(key)
        device.handle(
            .set(SetRequest(callerID: CallerID(lastToken), key: key, operation: operation, policy: policy, base: device.store.entries[key]))
        )
        if settles { device.settleDisk() }
        return CallerID(lastToken)
    }

    @discardableResult
    mutating func put(_ key: String, _ value: String, _ policy: ConflictPolicy = .lastWriterWins) -> CallerID {
        set(key, .put(Self.json(value)), policy)
    }

    mutating func list(_ purpose: ListRequest.Purpose = .records(mustBeNew: false), of collection: String = "c") -> CallerID {
        lastToken += 1
        device.handle(.list(ListRequest(callerID: CallerID(lastToken), collection: collection, purpose: purpose)))
        return CallerID(lastToken)
    }

    /// A page of a list. The disk does all that waits for it.
    mutating func answerList(_ ids: KeyValuePairs<String, Int64>, next: String? = nil, at number: Int64 = 10, _ epoch: String = "a") {
        let records = ids.map {
            Record(
                key: Self.key($0), revision: Self.revision($1), contentType: Content.json, size: 1, modified: Timestamp(milliseconds: $1))
        }
        replyToList(.list(RecordList(records: records, next: next, cursor: Self.position(number, epoch))))
    }

    mutating func replyToList(_ reply: Reply) {
        guard let list else { Issue.record("no list is under way"); return }
        device.reply(list.id, reply)
        device.settleDisk()
    }

    mutating func fetch(_ keys: RecordKey...) -> CallerID {
        lastToken += 1
        device.handle(
            .fetch(FetchRequest(callerID: CallerID(lastToken), items: keys.map { .init(key: $0, known: device.store.entries[$0]) })))
        return CallerID(lastToken)
    }

    mutating func fetch(_ key: String) -> CallerID { fetch(Self.key(key)) }

    mutating func pass(_ milliseconds: Int64) {
        device.uptime += milliseconds
        device.handle(.timer)
    }

    // MARK: Views

    func text(_ key: String) -> String? { device.view(Self.key(key)).value.content.map { String(decoding: $0.bytes, as: UTF8.self) } }
    func view(_ key: String) -> KeyView { device.view(Self.key(key)) }
    func stored(_ key: String) -> Entry? { device.store.entries[Self.key(key)] }
    func isPending(_ key: String) -> Bool { view(key).isPending }
    func verdict(_ writeID: Int64) -> LocalWriteOutcome? { device.verdicts.last { $0.writeID == LocalWriteID(writeID) }?.verdict }
    func failure(_ callerID: CallerID) -> SyncFailure? { if case .failed(let failure)? = device.answers[callerID] { failure } else { nil } }
    func row(_ writeID: Int64) -> OutboxRow? { device.store.rows[LocalWriteID(writeID)] }
}
