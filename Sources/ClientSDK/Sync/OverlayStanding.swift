import FreshetWire

/// The treatment of a write in the overlay (rule 7).
enum OverlayStanding: Hashable, Sendable {
    /// The record does not contain the write, or is not known: the write is replayed over the record.
    case replayed
    /// The record contains the write's outcome: the write waits for its verdict, or for a record of the present
    /// history, and is not replayed.
    case included
    /// The write has its verdict and the record contains it: it leaves the overlay.
    case finished
}
