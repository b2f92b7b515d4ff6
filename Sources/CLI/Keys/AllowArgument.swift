import FreshetWire

/// A grant as the command line takes it: `NAMESPACE:RANGE:VERBS`, for example `shop:orders/*:read,write`.
///
/// The namespace ends at the first colon and the verbs begin after the last one, so that an id may have colons. The server
/// checks the parts.
struct AllowArgument: Hashable, Sendable {
    let namespace: String
    let range: String
    let verbs: [String]

    static let form = "NAMESPACE:RANGE:VERBS, such as 'shop:orders/*:read,write'"

    init?(_ text: String) {
        guard let first = text.firstIndex(of: ":"), let last = text.lastIndex(of: ":"), first < last else { return nil }
        namespace = String(text[..<first])
        range = String(text[text.index(after: first)..<last])
        verbs = text[text.index(after: last)...].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard !namespace.isEmpty, !range.isEmpty, !verbs.contains("") else { return nil }
    }

    /// The grants as the server reads them.
    static func json(_ grants: [AllowArgument]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for grant in grants {
            writer.beginObject()
            writer.member("ns", grant.namespace)
            writer.member("in")
            writer.beginArray()
            writer.string(grant.range)
            writer.endArray()
            writer.member("may")
            writer.beginArray()
            for verb in grant.verbs { writer.string(verb) }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }
}

/// How long something lasts: a number with `s`, `m`, `h` or `d`.
struct DurationArgument: Hashable, Sendable {
    let seconds: Int64

    static let form = "a number with s, m, h or d, such as 90d"

    init?(_ text: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let last = text.last, let unit = units[last], let count = Int64(text.dropLast()), count > 0, count <= 36_500 * 86_400 / unit
        else { return nil }
        seconds = count * unit
    }
}
