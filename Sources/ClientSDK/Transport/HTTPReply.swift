package import HTTPTypes

/// A complete response: one that was cut short is a ``TransportError``, never a reply.
package struct HTTPReply: Hashable, Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var body: [UInt8]
    /// The proxy that it came through, for errors; `nil` where there was none that the device knows of.
    package var proxy: String?

    package init(status: Int, fields: HTTPFields = [:], body: [UInt8] = [], proxy: String? = nil) {
        self.status = status
        self.fields = fields
        self.body = body
        self.proxy = proxy
    }
}
