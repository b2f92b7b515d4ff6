package import HTTPTypes

/// A complete response: one that was cut short is a ``TransportError``, never a reply.
package struct HTTPReply: Hashable, Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var body: [UInt8]

    package init(status: Int, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
