/// The error of a request without a value.
public enum RequestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No value is stored for the request: use another policy.
    case notCached(RequestKey)

    /// A line for people that says what to do.
    public var description: String {
        switch self {
        case .notCached(let key): "nothing is kept for \(key): ask with another policy"
        }
    }
}
