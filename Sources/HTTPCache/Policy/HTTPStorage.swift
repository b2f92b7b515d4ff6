/// How a response from the network changed the store.
public enum HTTPStorage: Hashable, Sendable {
    /// The response was stored.
    case stored
    /// The response confirmed the stored one and updated its fields.
    case freshened
    /// The stored response was not changed.
    case untouched
    /// The response was not stored.
    case refused(Refusal)

    /// The reason why a response is not stored.
    public enum Refusal: Hashable, Sendable {
        /// Only responses to `GET` are stored.
        case method
        /// The response says `no-store`.
        case noStore
        /// The request says `no-store`.
        case requestNoStore
        /// The request has content, on which the response may depend.
        case requestContent
        /// The response is partial, or answers the request's own conditions.
        case partial
        /// The status requires a lifetime that the response does not have.
        case noLifetime
        /// The response says `must-understand`, and the cache does not know the status.
        case notUnderstood
        /// `Vary: *`: the response may not be used for any other request.
        case variesByEverything
        /// The content is larger than the policy allows.
        case tooLarge
        /// The response has more than 4,096 fields, or 256 KiB of them, together with those of the response that it confirms.
        case tooManyFields
        /// Meanwhile the resource was changed by a request of another method or removed from the cache, or a newer
        /// response was stored.
        case outdated
        /// The store failed.
        case storeFailed(String)

        /// Whether a response that is refused for this reason may not answer other requests either.
        var forbidsSharing: Bool {
            switch self {
            case .tooLarge, .tooManyFields, .storeFailed: false
            default: true
            }
        }
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
        case .requestContent: "the request has content"
        case .partial: "it is a part, or an answer to the request's own conditions"
        case .noLifetime: "its status needs a lifetime, and it has none"
        case .notUnderstood: "it must be understood, and its status is unknown"
        case .variesByEverything: "it varies by everything"
        case .tooLarge: "its content is larger than the policy allows"
        case .tooManyFields: "it has too many fields"
        case .outdated: "the resource was changed or removed meanwhile, or a newer response stored"
        case .storeFailed(let text): "the store failed: \(text)"
        }
    }
}
