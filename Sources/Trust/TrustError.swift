internal import FreshetWire

/// An error in a grant, a key set or a configuration. Every case names the byte, the rule and the remedy.
package enum TrustError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are not JSON, or the JSON has another kind of value than this place takes. `offset` counts bytes from
    /// 0.
    case invalidJSON(offset: Int, String)
    /// The value at `offset` breaks a rule, which the text states.
    case invalidValue(offset: Int, String)

    /// The place of the error, in bytes from 0.
    package var offset: Int {
        switch self {
        case .invalidJSON(let offset, _), .invalidValue(let offset, _): offset
        }
    }

    /// The whole sentence. It repeats at most 100 characters of the input.
    package var description: String {
        switch self {
        case .invalidJSON(let offset, let text), .invalidValue(let offset, let text): "at byte \(offset): \(text)"
        }
    }
}
