/// The operation of a write on its record.
public enum WriteOperation: Hashable, Sendable {
    /// The record becomes this value.
    case put(Content)
    /// A merge patch (RFC 7396), well-formed JSON; rejected with `not-found` if there is no record.
    case patch([UInt8])
    /// The record is deleted; without effect, and without a revision, if there is none.
    case delete
    /// A number is added at a place in the record.
    indirect case increment(Increment)

    /// Adds a number at a place in the record; record and place begin from 0 if they are missing.
    public static func increment(path: JSONPointer, by amount: JSONNumber) -> WriteOperation {
        .increment(Increment(path: path, by: amount))
    }

    /// The name on the wire: `put`, `patch`, `delete`, `increment`.
    public var name: String {
        switch self {
        case .put: "put"
        case .patch: "patch"
        case .delete: "delete"
        case .increment: "increment"
        }
    }
}
