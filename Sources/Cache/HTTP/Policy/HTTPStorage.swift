/// What became of a response that came from the network.
public enum HTTPStorage: Hashable, Sendable {
    /// It is kept.
    case stored
    /// It confirmed what is kept, which has its fields now.
    case freshened
    /// What was kept stays as it was.
    case untouched
    /// It is not kept, as the reason says.
    case refused(Refusal)

    /// Why a response is not kept.
    public enum Refusal: Hashable, Sendable {
        /// Only responses to `GET` are.
        case method
        /// The response says `no-store`.
        case noStore
        /// The request says `no-store`.
        case requestNoStore
        /// It is a part, or an answer to the request's own conditions.
        case partial
        /// The status is not one that can be kept without an explicit lifetime, and there is none.
        case noLifetime
        /// The response says `must-understand`, and the status means nothing here.
        case notUnderstood
        /// `Vary: *`: nothing tells for which requests it holds.
        case variesByEverything
        /// Its content is larger than the policy's bound.
        case tooLarge
        /// While it was under way, the resource was changed by a request of another method, or removed from the cache.
        case outdated
        /// The store failed, as the text says.
        case storeFailed(String)
    }
}

extension HTTPStorage: CustomStringConvertible {
    /// A few words.
    public var description: String {
        switch self {
        case .stored: "stored"
        case .freshened: "freshened"
        case .untouched: "untouched"
        case .refused(let refusal): "not stored: \(refusal)"
        }
    }
}

extension HTTPStorage.Refusal: CustomStringConvertible {
    /// The reason in a few words.
    public var description: String {
        switch self {
        case .method: "only responses to GET are"
        case .noStore: "the response says no-store"
        case .requestNoStore: "the request says no-store"
        case .partial: "it is a part, or an answer to the request's own conditions"
        case .noLifetime: "its status needs an explicit lifetime, and it has none"
        case .notUnderstood: "it must be understood, and its status is unknown"
        case .variesByEverything: "it varies by everything"
        case .tooLarge: "its content is larger than the policy allows"
        case .outdated: "the resource was changed or removed meanwhile"
        case .storeFailed(let text): "the store failed: \(text)"
        }
    }
}
