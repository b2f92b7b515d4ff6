/// The answer to `GET /v1/{ns}/rights`: what the key or token of the request may do in the namespace.
public struct AccessRights: Hashable, Sendable {
    /// The holder of the key or token, `key:<id>` or `<issuer>|<subject>`; `nil` on a server that is open to all.
    public var principal: String?
    /// When the key or token expires; `nil` for never.
    public var expires: Timestamp?
    /// The ranges of records that may be read: `*`, `collection`, `collection/id` or `collection/prefix*`. None contains another.
    public var read: [String]
    /// The ranges that may be written.
    public var write: [String]
    /// The ranges that may be invalidated.
    public var invalidate: [String]
    /// `*` if the namespace may be created.
    public var create: [String]
    /// `*` if the namespace may be dropped.
    public var drop: [String]
    /// `*` if the status of the namespace and of other clients may be read.
    public var inspect: [String]

    /// Rights; none but those that are given.
    public init(
        principal: String? = nil, expires: Timestamp? = nil, read: [String] = [], write: [String] = [], invalidate: [String] = [],
        create: [String] = [], drop: [String] = [], inspect: [String] = []
    ) {
        (self.principal, self.expires) = (principal, expires)
        (self.read, self.write, self.invalidate) = (read, write, invalidate)
        (self.create, self.drop, self.inspect) = (create, drop, inspect)
    }

    /// The verbs that allow something, each with its ranges.
    public var verbs: [(verb: String, ranges: [String])] { all.filter { !$0.ranges.isEmpty } }

    private var all: [(verb: String, ranges: [String])] {
        [("read", read), ("write", write), ("invalidate", invalidate), ("create", create), ("drop", drop), ("inspect", inspect)]
    }
}

extension AccessRights: CustomStringConvertible {
    /// One line for a person, such as `read articles, write carts/u7/*`.
    public var description: String {
        verbs.isEmpty ? "none" : verbs.map { "\($0.verb) \($0.ranges.joined(separator: " "))" }.joined(separator: ", ")
    }
}

extension AccessRights: WireMessage {
    /// The most ranges of one verb. A key or token has no more in all (`docs/limits.md`).
    package static let maximumRanges = 64
    /// The most bytes of a range. The longest, `collection/prefix*`, has 578.
    private static let longestRange = 1_024
    /// The most bytes of a principal. The issuer and the subject of a token fit into the token, which has at most 4 KiB.
    private static let longestPrincipal = 4_096

    /// `{"principal":…,"expires":…,"read":["range",…],"write":[…],"invalidate":[…],"create":[…],"drop":[…],"inspect":[…]}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("principal")
        if let principal { writer.string(principal) } else { writer.null() }
        writer.member("expires")
        if let expires { writer.string(expires.description) } else { writer.null() }
        for (verb, ranges) in all {
            writer.member(verb)
            writer.beginArray()
            for range in ranges { writer.string(range) }
            writer.endArray()
        }
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes. Verbs of later versions are left out.
    /// - Throws: ``WireError/tooMany(_:limit:)`` at the first range of a verb beyond ``maximumRanges``.
    package init(_ reader: inout JSONReader) throws(WireError) {
        self.init()
        var hasRead = false
        func ranges(_ reader: inout JSONReader) throws(WireError) -> [String] {
            try reader.elements(atMost: Self.maximumRanges, "ranges") { reader throws(WireError) in
                try Self.text(&reader, "range", atMost: Self.longestRange)
            }
        }
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "principal":
                principal = try reader.takeNull() ? nil : try Self.text(&reader, "principal", atMost: Self.longestPrincipal)
            case "expires": expires = try reader.takeNull() ? nil : Timestamp(try reader.string())
            case "read": (read, hasRead) = (try ranges(&reader), true)
            case "write": write = try ranges(&reader)
            case "invalidate": invalidate = try ranges(&reader)
            case "create": create = try ranges(&reader)
            case "drop": drop = try ranges(&reader)
            case "inspect": inspect = try ranges(&reader)
            default: try reader.skip()
            }
        }
        guard hasRead else { throw .unexpectedJSON("rights take 'read'") }
    }

    private static func text(_ reader: inout JSONReader, _ what: String, atMost limit: Int) throws(WireError) -> String {
        let text = try reader.string()
        guard text.utf8.count <= limit else {
            throw .unexpectedJSON("the \(what) '\(text.shortened)' has \(text.utf8.count) bytes: it takes at most \(limit)")
        }
        return text
    }
}
