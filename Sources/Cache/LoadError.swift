/// The error of a load that cannot end. Its key holds no value then, and the next caller begins a new load.
public enum LoadError: Error, Hashable, Sendable {
    /// A load asked for a value whose load waits for it: `keys` are those of the loads in the cycle, each waiting for
    /// the next one, and the last one for the first. Only the call that closed the cycle gets this error, unless a load
    /// throws it on. Do not ask for a key from its own load: call the function that computes the value, or split the
    /// value into keys that do not depend on each other.
    case cyclic(keys: [String])
    /// A load did not end within its timeout. Its task was cancelled.
    case timedOut(key: String, after: Duration)
}

extension LoadError: CustomStringConvertible {
    /// A line for people that says what to do.
    public var description: String {
        switch self {
        case .cyclic(let keys):
            """
            the load of \(keys.last ?? "a key") waits for itself: \((keys + keys.prefix(1)).joined(separator: " → ")); \
            do not ask the cache for a key from its own load, call the function that computes the value
            """
        case .timedOut(let key, let timeout):
            """
            the load of \(key) did not end within \(timeout): raise its timeout, and look whether it waits for itself in a \
            detached task
            """
        }
    }
}
