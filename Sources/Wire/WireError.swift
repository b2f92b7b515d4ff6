/// An error in bytes that crossed the network. Every case names the place and the right form.
public enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are not JSON (RFC 8259). `offset` counts bytes from 0. Send well-formed UTF-8 JSON.
    case invalidJSON(offset: Int, reason: String)
    /// The JSON is well-formed but is not what this place takes, for example a number where a string belongs.
    case unexpectedJSON(String)
    /// The name of a namespace does not match `[a-z0-9][a-z0-9._-]{0,62}`. Choose one that does.
    case invalidNamespace(String)
    /// A collection, an id or a `collection/id` key breaks the rules for names. The text says which.
    case invalidKey(String)
    /// A cursor is not `<epoch>-<revision>`. Use one that the server gave, `now` or `0`.
    case invalidCursor(String)
    /// A client's identifier does not match `[A-Za-z0-9._-]{1,64}`. Choose one that does.
    case invalidClient(String)

    /// An array has more elements than its place takes: `what` are they. Send them in parts.
    case tooMany(_ what: String, limit: Int)

    /// The whole sentence, fit to be a problem's `detail`. It repeats at most 100 characters of the input.
    public var description: String {
        switch self {
        case .invalidJSON(let offset, let reason): "invalid JSON at byte \(offset): \(reason)"
        case .unexpectedJSON(let text): text
        case .invalidNamespace(let name):
            "'\(name.shortened)' is no namespace: it takes 1 to 63 of a-z 0-9 . _ - and begins with a letter or a digit"
        case .invalidKey(let text): text
        case .invalidCursor(let text): "'\(text.shortened)' is no cursor: it takes <epoch>-<revision> as the server gave it, 'now' or '0'"
        case .invalidClient(let text): "'\(text.shortened)' is no client: it takes 1 to 64 of A-Z a-z 0-9 . _ -"
        case .tooMany(let what, let limit): "there are more than \(limit) \(what): a message takes at most \(limit), so send them in parts"
        }
    }
}
