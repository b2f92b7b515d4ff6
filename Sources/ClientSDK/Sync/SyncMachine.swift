package import FreshetWire

/// One device in one namespace: it follows the feed, sends writes, fences reads and says what to show.
///
/// A value that takes events and gives actions: no clock, no socket, no file, no chance of its own, and nothing depends on the order of a
/// dictionary, so the same events give the same actions. It holds the outbox, the confirmed records of keys in it, the reads under way
/// and the position; all other entries are the disk's, and the rules of ``EntryOperation`` keep those right without a look at them.
///
/// The order of everything that is stored: replies and calls become *intents*; one intent at a time becomes a *plan* (one transaction),
/// made from what is on disk; only when the disk has it does anything change or show. So a crash at any point leaves a whole state.
///
/// This type is the boundary: it says what shows and what has changed. ``SyncCore`` decides.
package struct SyncMachine: Sendable {
    package let settings: SyncSettings

    private var core: SyncCore
    private var story: Story
    private var uptime: Int64 = 0
    private var lastStatus: SyncStatus?
    private var lastSchedule: Int64?

    package init(settings: SyncSettings, client: ClientIdentifier) {
        self.settings = settings
        core = SyncCore(settings: settings, client: client)
        story = Story(capacity: settings.storyNotes)
    }

    /// What is to be done about an event. O(size of the event and of the outbox's part that it touches), never of the cache.
    package mutating func handle(_ event: SyncEvent, at now: Moment) -> [SyncAction] {
        uptime = now.uptime
        guard core.isExpected(event) else { return [] }
        var turn = Turn(settings, now)
        if case .clear = event { story.clear() }
        core.handle(event, &turn)
        for note in turn.notes { story.add(note) }
        let deadline = core.deadline(after: now.uptime)
        if deadline != lastSchedule {
            lastSchedule = deadline
            turn.emit(.schedule(at: deadline))
        }
        let status = status
        defer { lastStatus = status }
        return turn.finish(status: status == lastStatus ? nil : status)
    }

    // MARK: What shows

    /// The key as it is to be shown, given the disk's row. O(writes pending to the key).
    package func view(of key: RecordKey, stored: Entry?) -> KeyView { core.view(of: key, stored: stored) }

    /// What is known of a key without a row where the device holds a copy of all that it follows: that there is no record, as of the position
    /// of the copy. `nil` where the copy is not complete, or does not include the key.
    package func absence(of key: RecordKey) -> Entry? { core.absence(of: key) }

    /// Whether a clear was asked for that is not on disk: what the disk has until then is nothing that may be read.
    package var isClearing: Bool { core.isClearing }

    /// Whether any view comes from the machine rather than from the disk.
    package var hasOverlay: Bool { core.hasOverlay }

    /// The keys whose views come from the machine rather than from the disk, in order.
    package var overlaidKeys: [RecordKey] { core.overlaidKeys }

    /// Whether the disk must keep the key's entry, or that it has none: writes of this device stand on it, on disk or on their way there.
    package func needs(_ key: RecordKey) -> Bool { core.needs(key) }

    /// Whether the rejected write waits for its user. O(rejected writes).
    package func keeps(_ rejection: Receipt) -> Bool { core.keeps(rejection) }

    /// What became of a key lately, oldest first.
    package func story(of key: RecordKey) -> [StoryNote] { story.notes(of: key) }

    /// When the last event was, in milliseconds of uptime.
    package var lastEvent: Int64 { uptime }

    /// The device's name, history, position and store, as they are on disk.
    package var state: SyncState { core.state }

    /// What the device knows of its freshness now.
    package var status: SyncStatus { core.status }

    /// What the machine holds, for tests and tools to look at.
    package var inspection: Inspection { core.inspection }

    /// All that decides how the machine answers later events, for a search that visits each state once.
    ///
    /// Machines that differ only in the absolute time, or in the numbers of the requests and transactions under way, behave alike and have
    /// the same: times count from `uptime`, and requests are named by their places. Left out are the settings, the story, and what follows from
    /// the rest. The parts' own conformances to `Hashable` combine the rest, so what is added to a part is included without a change here.
    package func relativeState(at uptime: Int64) -> some Hashable & Sendable {
        var core = core
        core.makeRelative(to: uptime)
        return core
    }
}
