package import FreshetWire

/// What an audit log records: each change of rights and of whole namespaces, and refusals.
package enum AuditEvent: String, CaseIterable, Sendable {
    case serverStarted = "server-started"
    case serverStopped = "server-stopped"
    case configurationReloaded = "configuration-reloaded"
    case certificateChanged = "certificate-changed"
    case keyCreated = "key-created"
    case keyChanged = "key-changed"
    case keyRotated = "key-rotated"
    case keyRevoked = "key-revoked"
    case tokensRevoked = "tokens-revoked"
    case namespaceCreated = "namespace-created"
    case namespaceDropped = "namespace-dropped"
    case everythingInvalidated = "everything-invalidated"
    case tokenRefused = "token-refused"
    case rightDenied = "right-denied"
    case quotaReached = "quota-reached"
    /// Lines before this one could not be written; `count` states how many.
    case linesLost = "lines-lost"
}

/// One event of an audit log. None of its texts may be a token, a part of one, or a value.
package struct AuditRecord: Hashable, Sendable {
    /// Milliseconds since 1970.
    package var time: Int64
    package let event: AuditEvent
    package var principal: String?
    /// The id of the key that the event is about.
    package var key: String?
    /// The address of the client, or of the proxy that it came through.
    package var address: String?
    package var namespace: String?
    package var detail: String?
    /// The method and the route, without the names of the request, which could be anything.
    package var request: String?
    /// How many events the record stands for; `nil` for one, at its time.
    package var count: Int?

    package init(_ event: AuditEvent, time: Int64) { (self.event, self.time) = (event, time) }

    /// The record as a line of JSON, with its line feed; at most 4 KiB.
    package var line: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        write(to: &writer)
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// - Parameter last: the time of the last of several events; `nil` writes none.
    package func write(to writer: inout JSONWriter, last: Int64? = nil) {
        writer.beginObject()
        writer.member("time", Timestamp(milliseconds: time).description)
        writer.member("event", event.rawValue)
        let texts: [(StaticString, String?)] = [
            ("principal", principal), ("key", key), ("address", address), ("ns", namespace), ("detail", detail), ("request", request),
        ]
        for (name, text) in texts {
            if let text { writer.member(name, text.shortened(toJSONBytes: Self.longestText)) }
        }
        if let count { writer.member("count", Int64(count)) }
        if let last { writer.member("last", Timestamp(milliseconds: last).description) }
        writer.endObject()
    }

    /// The longest text of a member, in bytes of JSON. A principal has up to 256 of its issuer and 128 of its subject.
    private static let longestText = 512
}
