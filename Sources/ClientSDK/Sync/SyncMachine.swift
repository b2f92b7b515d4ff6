package import FreshetWire

/// One device in one namespace: follows the feed, sends writes, discards stale reads and decides which values show.
///
/// A value that takes events and returns actions. It uses no clock, socket, file or random source, and does not depend
/// on the order of a dictionary, so the same events give the same actions. It holds the outbox, the confirmed records
/// of the outbox's keys, the reads in flight and the position. All other entries are on disk only, where the rules of
/// ``EntryOperation`` keep them right without being read.
///
/// The order of storage: replies and calls become *inputs*; one input at a time becomes a *plan* (one transaction),
/// made from the state on disk. Changes show only after the disk has committed. So a crash at any point leaves a
/// consistent state.
///
/// This type is the boundary: it gives views and reports changes. ``SyncCore`` decides.
package struct SyncMachine: Sendable {
    package let settings: SyncSettings

    private var core: SyncCore
    private var history: KeyHistory
    private var uptime: Int64 = 0
    private var lastStatus: SyncStatus?
    private var lastSchedule: Int64?

    package init(settings: SyncSettings, client: ClientIdentifier) {
        self.settings = settings
        core = SyncCore(settings: settings, client: client)
        history = KeyHistory(capacity: settings.historyCapacity)
    }

    /// Returns the actions for an event. O(size of the event and of the outbox's part that it touches), never of the cache.
    package mutating func handle(_ event: SyncEvent, at now: EventContext) -> [SyncAction] {
        uptime = now.uptime
        guard core.isExpected(event) else { return [] }
        var turn = Turn(settings, now)
        if case .clear = event { history.clear() }
        core.handle(event, &turn)
        for note in turn.notes { history.add(note) }
        let deadline = core.deadline(after: now.uptime)
        if deadline != lastSchedule {
            lastSchedule = deadline
            turn.emit(.schedule(at: deadline))
        }
        let status = status
        core.answer(verifiedBy: status, &turn)
        defer { lastStatus = status }
        return turn.finish(status: status == lastStatus ? nil : status)
    }

    // MARK: Views

    /// Returns the key's view, given the disk's row. O(writes pending to the key).
    package func view(of key: RecordKey, stored: Entry?) -> KeyView { core.view(of: key, stored: stored) }

    /// Returns an entry for the absence of a record, as of the position of the device's copy, for a key without a row.
    /// `nil` where the copy is not complete, or does not include the key.
    package func absence(of key: RecordKey) -> Entry? { core.absence(of: key) }

    /// Whether a requested clear is not on disk yet. Until then the data on disk must not be read.
    package var isClearing: Bool { core.isClearing }

    /// Whether any view comes from the machine rather than from the disk.
    package var hasOverlay: Bool { core.hasOverlay }

    /// The keys whose views come from the machine rather than from the disk, in order.
    package var overlaidKeys: [RecordKey] { core.overlaidKeys }

    /// Whether the disk must keep the key's entry, or its absence: writes of this device depend on it, on disk or
    /// being stored.
    package func mustKeep(_ key: RecordKey) -> Bool { core.mustKeep(key) }

    /// Whether the rejected write waits for its user. O(rejected writes).
    package func keeps(_ rejection: LocalWriteID) -> Bool { core.keeps(rejection) }

    /// Returns the latest events of a key, oldest first.
    package func history(of key: RecordKey) -> [HistoryEvent] { history.notes(of: key) }

    /// The time of the last event, in milliseconds of uptime.
    package var lastEvent: Int64 { uptime }

    /// The device's name, history, position and store, as they are on disk.
    package var state: SyncState { core.state }

    /// The present freshness of the device's data.
    package var status: SyncStatus { core.status }

    /// The contents of the machine, for tests and tools.
    package var inspection: Inspection { core.inspection }

    /// Returns all state that decides the actions for later events, for a search that visits each state once.
    ///
    /// Machines that differ only in the absolute time, or in the numbers of the requests and transactions in flight,
    /// behave alike and have the same relative state: times count from `uptime`, and requests are named by their
    /// places. The settings, the notes and derived values are left out. The parts' own conformances to `Hashable`
    /// combine the rest, so a new field of a part is included without a change here.
    package func relativeState(at uptime: Int64) -> some Hashable & Sendable {
        var core = core
        core.makeRelative(to: uptime)
        return core
    }
}
