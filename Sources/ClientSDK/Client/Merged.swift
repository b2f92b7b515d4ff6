/// The result of a merge closure.
public enum Merged<Value: Sendable>: Sendable {
    /// This value replaces both.
    case value(Value)
    /// The record is removed.
    case remove
    /// The server's value stays; this device's write counts as rejected.
    case takeTheirs
}

extension Merged: Equatable where Value: Equatable {}
