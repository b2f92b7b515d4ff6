package import FreshetWire

/// The result of the user's closure for a conflict.
package enum Resolution: Hashable, Sendable {
    /// Stores this value.
    case put(Content)
    /// Deletes the record.
    case delete
    /// Keeps the other writer's value; the write counts as rejected.
    case takeTheirs
}
