/// The value of `If-Match` or `If-None-Match` (RFC 9110 §13.1): `*`, or entity tags.
enum EntityTags: Hashable, Sendable {
    struct Tag: Hashable, Sendable {
        var isWeak: Bool
        /// With its quotes.
        var text: String
    }

    case any
    case tags([Tag])

    /// `nil` unless the text is `*` or a list of at least one entity tag; empty elements are passed over (RFC 9110 §5.6.1.2).
    init?(_ text: String) {
        var rest = text.utf8[...]
        var tags: [Tag] = []
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        if text.utf8.drop(while: isSpace).first == UInt8(ascii: "*") {
            guard text.utf8.allSatisfy({ isSpace($0) || $0 == UInt8(ascii: "*") }), text.utf8.count(where: { !isSpace($0) }) == 1 else {
                return nil
            }
            self = .any
            return
        }
        while true {
            rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { break }
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.first == UInt8(ascii: "\""),
                let end = rest.dropFirst().firstIndex(where: { !($0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80) }),
                rest[end] == UInt8(ascii: "\"")
            else { return nil }
            let after = rest.index(after: end)
            tags.append(Tag(isWeak: isWeak, text: String(decoding: rest[..<after], as: UTF8.self)))
            rest = rest[after...].drop(while: isSpace)
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
        guard !tags.isEmpty else { return nil }
        self = .tags(tags)
    }

    /// Strong comparison, as `If-Match` demands: weak tags match nothing.
    func matchesStrongly(_ tag: String) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { !$0.isWeak && $0.text == tag }
        }
    }

    /// Weak comparison, as `If-None-Match` demands.
    func matchesWeakly(_ tag: String) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.text == tag }
        }
    }
}
