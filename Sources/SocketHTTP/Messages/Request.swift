public import HTTPTypes

/// A request that passed the parser and found its route.
///
/// It keeps the head's bytes as received and decodes text only on demand.
public struct Request: Sendable {
    let head: RequestHead
    let peer: PeerAddress
    /// That of the client; `nil` if its listener demands none.
    package let certificate: ClientCertificate?
    private let listenerIndex: UInt8
    let parameters: RouteParameters
    /// Counts a large body for as long as any copy of the request is kept.
    private let share: HandledBytes.Share?

    /// The body, after chunked decoding; empty where there is none.
    public let body: [UInt8]

    init(
        _ parsed: ParsedRequest, _ parameters: RouteParameters, peer: PeerAddress, certificate: ClientCertificate? = nil,
        listener: UInt8 = 0, _ share: HandledBytes.Share? = nil
    ) {
        self.certificate = certificate
        self.share = share
        listenerIndex = listener
        head = parsed.head
        body = parsed.body
        self.parameters = parameters
        self.peer = peer
    }

    /// The method. A `GET` route is given `HEAD` requests too; their body is left out as the answer is sent.
    public var method: HTTPRequest.Method { head.methodName }

    /// The target as it was sent: usually path and query, still percent-encoded.
    public var rawTarget: String { head.text(head.line.target) }

    /// The path as it was sent, still percent-encoded.
    public var rawPath: String { head.text(head.line.path) }

    /// Whether the client speaks HTTP/1.0.
    public var isHTTP10: Bool { head.line.isHTTP10 }

    /// The client's address without its port: `127.0.0.1`, `::1`. Behind a proxy it is the proxy's.
    public var remoteAddress: String { peer.text }

    /// The address of one client: an IPv4 address, or that of an IPv6 network of 64 bits, such as `2001:db8::`.
    package var subscriberAddress: String { peer.subscriber.text }

    /// The index of the listener that has accepted the request's connection: 0 is that of the configuration's host and port.
    package var listener: Int { Int(listenerIndex) }

    /// The value of the route's `{name}`: percent-decoded once, valid UTF-8 without NUL, never empty.
    ///
    /// Empty for a name that the route does not have.
    public func parameter(_ name: String) -> String { parameters.text(name, in: head) ?? "" }
}

extension Request {
    /// The value of a field, several lines joined with `, ` (RFC 9110 §5.3), or nil where there is none.
    ///
    /// Each call walks the head, which is faster than indexing it for the few fields that a handler reads. A byte beyond ASCII is U+FFFD:
    /// use ``forEachValue(of:_:)`` for the bytes.
    public subscript(name: HTTPField.Name) -> String? {
        var result: String?
        head.forEachValue(name.canonicalName) { bytes, range in
            let value = bytes.fieldText(range)
            result = result.map { "\($0), \(value)" } ?? value
            return true
        }
        return result
    }

    /// The value of each line of a field, in order. A byte beyond ASCII is U+FFFD.
    public func values(of name: HTTPField.Name) -> [String] {
        var result: [String] = []
        head.forEachValue(name.canonicalName) { bytes, range in
            result.append(bytes.fieldText(range))
            return true
        }
        return result
    }

    /// Calls `body` with the value of each line of a field, in order, until it returns false. Nothing is copied.
    public func forEachValue(of name: HTTPField.Name, _ body: (Span<UInt8>) -> Bool) {
        head.forEachValue(name.canonicalName) { bytes, range in body(bytes.extracting(range)) }
    }

    /// Calls `body` with each authority that the request names, host and port: that of an absolute target, which stands for `Host` then (RFC 9112
    /// §3.2.2), or the values of `Host`. HTTP/1.0 allows a request without. Nothing is copied.
    public func forEachAuthority(_ body: (Span<UInt8>) -> Void) {
        let bytes = head.bytes
        if let authority = head.line.authority(bytes.span) { return body(bytes.span.extracting(authority)) }
        head.forEachValue("host") { bytes, range in
            body(bytes.extracting(range))
            return true
        }
    }

    /// Whether the field has one line alone, with this value, which is in lower case, without regard to case. Nothing is copied.
    public func hasOnly(_ value: StaticString, for name: HTTPField.Name) -> Bool {
        var (lines, isEqual) = (0, false)
        forEachValue(of: name) { bytes in
            lines += 1
            isEqual = bytes.matches(0..<bytes.count, value)
            return true
        }
        return lines == 1 && isEqual
    }

    /// Whether a line of the field contains `text`, which is in lower case, without regard to case. Nothing is copied.
    public func contains(_ text: StaticString, in name: HTTPField.Name) -> Bool {
        var isFound = false
        forEachValue(of: name) { bytes in
            isFound = bytes.contains(text)
            return !isFound
        }
        return isFound
    }

    /// Whether the request has the field at all.
    public func has(_ name: HTTPField.Name) -> Bool {
        var found = false
        head.forEachValue(name.canonicalName) { _, _ in
            found = true
            return false
        }
        return found
    }

    /// All fields, in order. Each call builds them again.
    public var fields: HTTPFields {
        var fields = HTTPFields()
        head.forEachField { bytes, name, value in
            guard let name = HTTPField.Name(bytes.text(name)) else { return }
            fields.append(HTTPField(name: name, value: bytes.copy(value)))
        }
        return fields
    }
}
