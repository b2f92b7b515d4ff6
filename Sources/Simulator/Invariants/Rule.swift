/// The rules that every run must keep. The first twelve are the rules of sync: docs/simulator.md states them, and
/// docs/architecture.md names the tests of each.
public enum Rule: Int, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Once links heal and queues drain, every device equals the server, and the queues do drain.
    case converge = 1
    /// The confirmed revision that a device shows never falls within an epoch.
    case neverBack
    /// From `set` until the verdict, a device shows its own value.
    case readYourWrites
    /// A device's knowledge of a key includes every response that it has received about that key.
    case fenceFetches
    /// Each write has its effect once.
    case exactlyOnce
    /// Every acknowledged write is on disk.
    case durableBeforeAcknowledged
    /// A view is the confirmed record with the pending writes replayed over it.
    case overlayThenBase
    /// A key is marked pending exactly while a write to it has no verdict.
    case pendingMeansPending
    /// What a device calls live is not older than hold and twice the grace, and it shows nothing that it does not follow.
    case noSilentStaleness
    /// Every value was written, and no change is skipped.
    case nothingInvented
    /// A reset verifies the entries and keeps the outbox.
    case resetKeepsYours
    /// After `clear()` no earlier data is left or comes back.
    case clearMeansClear
    /// Reads and writes of one record fit one order that respects time.
    case linearizable
    /// Memory, waiters and requests stay within their bounds.
    case bounded
    /// A scenario's own expectation.
    case expectation
    /// A rejected write stays on the device's disk, with its operation, until its user has retried or discarded it.
    case rejectionsStay
    /// Of several servers over one store, each has in its feed what the others have committed, soon after it is connected to them.
    case serversFollow
    /// Once the server has answered a revocation, no request of the token changes anything or learns anything.
    case revoked
    /// A wait ends with its token: no change that comes later reaches it.
    case expired
    /// After a contact under its present rights, a device holds no record outside of them.
    case withinRights

    /// For example `2 never back`.
    public var description: String {
        switch self {
        case .converge: "1 converge"
        case .neverBack: "2 never back"
        case .readYourWrites: "3 read your writes"
        case .fenceFetches: "4 fence fetches"
        case .exactlyOnce: "5 exactly once"
        case .durableBeforeAcknowledged: "6 durable before acknowledged"
        case .overlayThenBase: "7 overlay, then base"
        case .pendingMeansPending: "8 pending means pending"
        case .noSilentStaleness: "9 no silent staleness"
        case .nothingInvented: "10 nothing invented"
        case .resetKeepsYours: "11 a reset keeps your data"
        case .clearMeansClear: "12 clear means clear"
        case .linearizable: "linearizable"
        case .bounded: "bounded"
        case .expectation: "expectation"
        case .rejectionsStay: "rejections stay"
        case .serversFollow: "servers follow"
        case .revoked: "revoked"
        case .expired: "expired"
        case .withinRights: "within rights"
        }
    }
}

/// A rule was broken.
public struct Violation: Error, Hashable, Sendable {
    /// Which.
    public var rule: Rule
    /// At which step of the run.
    public var step: Int
    /// At which virtual time, in milliseconds.
    public var time: Int64
    /// The device that broke it, by its number; `nil` for the server.
    public var device: Int?
    /// The observed state or value, and the expected one.
    public var text: String
}
