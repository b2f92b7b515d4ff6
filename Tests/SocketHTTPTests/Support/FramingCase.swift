import Testing

/// Bytes that a client sends, and the expected result.
struct FramingCase: Sendable, CustomTestStringConvertible {
    enum End: Sendable {
        case open
        case closed
        /// Closed, and perhaps reset, since bytes arrived after the server had closed.
        case closedOrReset
    }

    let name: String
    let bytes: [UInt8]
    let statuses: [Int]
    let end: End
    var text: String?
    var isHead = false
    /// Whether it is worth the time to split it at every boundary.
    var isInteresting = false

    var testDescription: String { name }

    init(_ name: String, _ bytes: String, _ statuses: Int..., end: End, text: String? = nil, isHead: Bool = false, split: Bool = false) {
        self.init(name, Array(bytes.utf8), statuses, end: end, text: text, isHead: isHead, split: split)
    }

    init(_ name: String, _ bytes: [UInt8], _ statuses: [Int], end: End, text: String? = nil, isHead: Bool = false, split: Bool = false) {
        self.name = name
        self.bytes = bytes
        self.statuses = statuses
        self.end = end
        self.text = text
        self.isHead = isHead
        isInteresting = split
    }

    /// `GET` of a target, otherwise valid.
    static func get(_ name: String, _ target: String, _ status: Int, end: End, text: String? = nil) -> FramingCase {
        FramingCase(name, "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n", status, end: end, text: text)
    }

    /// `GET /field` with further field lines.
    static func field(_ name: String, _ lines: String, _ status: Int, end: End, text: String? = nil) -> FramingCase {
        FramingCase(name, "GET /field HTTP/1.1\r\nHost: x\r\n\(lines)\r\n\r\n", status, end: end, text: text)
    }

    /// `POST /echo` with field lines and whatever follows them.
    static func post(
        _ name: String, _ lines: String, _ body: String, _ status: Int, end: End, text: String? = nil, split: Bool = false
    ) -> FramingCase {
        FramingCase(name, "POST /echo HTTP/1.1\r\nHost: x\r\n\(lines)\r\n\r\n\(body)", status, end: end, text: text, split: split)
    }

    /// `POST /echo` with field lines and nothing behind them.
    static func post(_ name: String, _ lines: String, _ status: Int, end: End, text: String? = nil) -> FramingCase {
        post(name, lines, "", status, end: end, text: text)
    }

    /// `POST /echo` of a chunked body.
    static func chunked(
        _ name: String, _ body: String, _ status: Int, end: End, text: String? = nil, split: Bool = false
    ) -> FramingCase {
        post(name, "Transfer-Encoding: chunked", body, status, end: end, text: text, split: split)
    }

    static let all = requestLines + targets + fields + lengths + codings + chunks + expectations + connections + sequences
}
