package import HTTPTypes

/// A complete response, as far as it states its end. A truncated one is a ``TransportError``, never a reply, unless only
/// the end of the connection ended it: see ``statesEnd``.
package struct HTTPReply: Hashable, Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var body: [UInt8]
    /// The proxy of the request, for errors; `nil` if the device knows of none.
    package var proxy: String?
    /// Whether the response stated where its content ends. `false` for one that ended with its connection, which may have
    /// been cut (RFC 9112 §6.3).
    package var statesEnd: Bool

    package init(status: Int, fields: HTTPFields = [:], body: [UInt8] = [], proxy: String? = nil, statesEnd: Bool = true) {
        self.status = status
        self.fields = fields
        self.body = body
        self.proxy = proxy
        self.statesEnd = statesEnd
    }
}
