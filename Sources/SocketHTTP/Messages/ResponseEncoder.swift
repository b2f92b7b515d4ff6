import HTTPTypes

/// The `Connection` field that one particular answer needs.
enum ConnectionField: UInt8, Sendable {
    /// The version's default applies.
    case none
    /// The server closes after this answer.
    case close
    /// An HTTP/1.0 client asked to keep the connection, and may.
    case keepAlive
}

/// Writes response heads, RFC 9112 §4, into buffers that are the caller's to reuse.
enum ResponseEncoder {
    /// Appends the status line and all fields that are the same for every recipient.
    static func appendHead(_ response: Response, date: [UInt8], to buffer: inout [UInt8]) {
        appendStart(response.status, response.fields, date: date, to: &buffer)
        guard hasBody(response.status) else { return }
        buffer.append("Content-Length: ")
        buffer.append(decimal: response.body.count)
        buffer.append("\r\n")
    }

    /// Appends the head of a body whose length is not known, all but its last line.
    static func appendStreamHead(
        _ status: HTTPResponse.Status, _ fields: ResponseFields, isChunked: Bool, date: [UInt8], to buffer: inout [UInt8]
    ) {
        appendStart(status, fields, date: date, to: &buffer)
        if isChunked { buffer.append("Transfer-Encoding: chunked\r\n") }
    }

    /// Appends the end of the head: a `Connection` field if needed, and the blank line.
    ///
    /// - Parameter isEncrypted: whether browsers are to use the host by TLS alone, for a year from now (RFC 6797 §7.2).
    static func appendEnd(_ connection: ConnectionField, isEncrypted: Bool = false, to buffer: inout [UInt8]) {
        if isEncrypted { buffer.append("Strict-Transport-Security: max-age=31536000\r\n") }
        switch connection {
        case .none: buffer.append("\r\n")
        case .close: buffer.append("Connection: close\r\n\r\n")
        case .keepAlive: buffer.append("Connection: keep-alive\r\n\r\n")
        }
    }

    /// Appends one chunk, RFC 9112 §7.1; `bytes` must not be empty, as an empty chunk ends the body.
    static func appendChunk(_ bytes: [UInt8], to buffer: inout [UInt8]) {
        buffer.append(contentsOf: String(bytes.count, radix: 16).utf8)
        buffer.append("\r\n")
        buffer.append(contentsOf: bytes)
        buffer.append("\r\n")
    }

    /// Whether a response of this status may have content (RFC 9110 §6.4.1).
    static func hasBody(_ status: HTTPResponse.Status) -> Bool {
        status.code != 204 && status.code != 304
    }

    private static func appendStart(
        _ status: HTTPResponse.Status, _ fields: ResponseFields, date: [UInt8], to buffer: inout [UInt8]
    ) {
        let isFinal = (200...999).contains(status.code)
        let status = isFinal ? status : .internalServerError
        buffer.append("HTTP/1.1 ")
        buffer.append(decimal: status.code)
        buffer.append(.space)
        // `Status` has already made the phrase safe for one line.
        buffer.append(contentsOf: status.reasonPhrase.utf8)
        buffer.append("\r\nDate: ")
        buffer.append(contentsOf: date)
        buffer.append("\r\n")
        buffer.append(contentsOf: fields.lines)
    }
}

extension [UInt8] {
    /// Appends a literal's bytes.
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends a number that is not negative.
    mutating func append(decimal value: Int) {
        guard value >= 10 else { return append(UInt8(ascii: "0") + UInt8(value)) }
        append(decimal: value / 10)
        append(UInt8(ascii: "0") + UInt8(value % 10))
    }
}
