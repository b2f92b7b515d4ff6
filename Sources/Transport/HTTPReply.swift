package import HTTPTypes

/// A complete response. A truncated one is a ``TransportError``, never a reply.
package struct HTTPReply: Hashable, Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var body: [UInt8]
    /// The proxy of the request, for errors; `nil` if the device knows of none.
    package var proxy: String?

    package init(status: Int, fields: HTTPFields = [:], body: [UInt8] = [], proxy: String? = nil) {
        self.status = status
        self.fields = fields
        self.body = body
        self.proxy = proxy
    }
}
