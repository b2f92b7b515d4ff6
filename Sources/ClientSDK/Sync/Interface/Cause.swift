/// The reason why a view changed.
package enum Cause: Hashable, Sendable {
    /// The user wrote, in this process or in an earlier one.
    case written
    /// The server's record changed.
    case changed
    /// It was deleted on the server.
    case deleted
    /// It was invalidated, or its value was left out: read it to know the value.
    case invalidated
    /// It was read from the server.
    case fetched
    /// A write of this device became part of the confirmed record, or got its verdict.
    case confirmed
    /// A write of this device was rejected.
    case rolledBack
    /// After a reset it was confirmed, changed or dropped.
    case revalidated
}
