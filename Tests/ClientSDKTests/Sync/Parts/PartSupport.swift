// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire

@testable import FreshetClient

/// Turns and values for the tests of single parts of the machine. The history is `a` by default.
enum PartSupport {
    static let client = try! ClientIdentifier("device")

    static func turn(at uptime: Int64 = 1_000, random: UInt64 = 1, configure: (inout SyncSettings) -> Void = { _ in }) -> Turn {
        var settings = SyncSettings()
        configure(&settings)
        return Turn(settings, EventContext(uptime: uptime, wall: Timestamp(milliseconds: uptime), random: random))
    }

    /// The state of a device whose feed is on disk through this position; `nil` for a device that knows nothing.
    static func state(
        at number: Int64?, _ epoch: String = "a", revalidation: SyncState.RevalidationPhase = .complete, nextNumber: Int64 = 1
    ) -> SyncState {
        var state = SyncState(client: client)
        if let number {
            state.apply(.epoch(Epoch(epoch)!))
            state.apply(.cursor(Scene.position(number, epoch)))
        }
        state.apply(.revalidation(revalidation))
        state.apply(.nextNumber(nextNumber))
        return state
    }

    static func entry(
        _ key: String, _ revision: Int64, _ epoch: String = "a", asOf: Int64? = nil, pass: Int64 = 1, value: String? = "1"
    ) -> Entry {
        Entry(
            key: Scene.key(key), epoch: Epoch(epoch)!, revision: Scene.revision(revision), asOf: Scene.revision(asOf ?? revision),
            pass: pass, content: value.map(Scene.json), verifiedAt: Timestamp(milliseconds: 0), origin: .feed)
    }

    static func row(
        _ number: Int64, _ key: String, _ operation: WriteOperation = .put(Scene.json("1")), _ policy: ConflictPolicy = .lastWriterWins,
        finding precondition: OutboxRow.Precondition = .none, state: OutboxRow.State = .pending, ancestor: Content? = nil
    ) -> OutboxRow {
        OutboxRow(
            writeID: LocalWriteID(number), number: number, key: Scene.key(key), operation: operation, policy: policy,
            precondition: precondition, state: state, ancestor: ancestor, created: Timestamp(milliseconds: 0))
    }

    static func outbox(_ rows: [OutboxRow], over bases: [Entry] = []) -> Outbox {
        Outbox(PersistedState(state: state(at: 10), outbox: rows, bases: bases))
    }

    /// A device with this state and these writes on disk. All that has a number may have been sent.
    static func local(_ state: SyncState, _ rows: [OutboxRow] = [], over bases: [Entry] = []) -> LocalState {
        var local = LocalState(client: client)
        var turn = turn()
        local.start(PersistedState(state: state, outbox: rows, bases: bases), &turn)
        return local
    }

    /// - Parameter rows: writes that may have been sent.
    static func rule(_ state: SyncState, _ rows: [OutboxRow] = []) -> WatermarkRule {
        var state = state
        state.apply(.nextNumber((rows.map(\.number).max() ?? 0) + 1))
        var sender = Sender()
        sender.start(PersistedState(state: state, isNew: true))
        return WatermarkRule(local(state, rows), sender)
    }

    static func problem(_ code: ProblemCode, cursor: Cursor? = nil, retryAfter: Int64? = nil) -> Reply {
        .problem(Problem(code, "no"), cursor: cursor, retryAfter: retryAfter)
    }

    static let lost = Reply.failure(.interrupted("the connection broke"))

    /// The times until which a part may wait after so many failures in a row, counted from 0.
    static func delays(after failures: Int, at uptime: Int64) -> ClosedRange<Int64> {
        (uptime + 50)...(uptime + 50 + min(30_000, 250 << Int64(failures)))
    }
}

extension Turn {
    /// The requests that were sent.
    var sent: [RequestDescription] { actions.compactMap { if case .send(let request) = $0 { request } else { nil } } }
    /// The callers that got an answer, in order.
    var answered: [CallerID] { actions.compactMap { if case .complete(let callerID, _) = $0 { callerID } else { nil } } }
    /// The failures that callers got, in order.
    var failures: [SyncFailure] {
        actions.compactMap { if case .complete(_, .failed(let failure)) = $0 { failure } else { nil } }
    }
    var logs: [LogLine] { actions.compactMap { if case .log(let line) = $0 { line } else { nil } } }
    var merges: [MergeRequest] { actions.compactMap { if case .merge(let request) = $0 { request } else { nil } } }
    var queries: [CachedKeyQuery] { actions.compactMap { if case .loadCachedKeys(let query) = $0 { query } else { nil } } }
    var commits: [DiskTransaction] { actions.compactMap { if case .commit(let transaction) = $0 { transaction } else { nil } } }
    var publications: [Publication] {
        actions.flatMap { action -> [Publication] in if case .publish(let publications) = action { publications } else { [] } }
    }
}

extension [Effect] {
    var inputs: [QueuedInput] { compactMap { if case .store(let input) = $0 { input } else { nil } } }
    /// The histories that resets lead to.
    var resets: [Epoch?] { compactMap { if case .reset(let epoch, _, _, _) = $0 { .some(epoch) } else { nil } } }
    /// Whether a reset demands that the entries go.
    var forgets: Bool { contains { if case .reset(_, true, _, _) = $0 { true } else { false } } }
    var regainsContact: Bool { contains { if case .regainedContact = $0 { true } else { false } } }
    var reachesServer: Bool { contains { if case .reachedServer = $0 { true } else { false } } }
}
