public import HTTPTypes

/// A complete response.
public struct Response: Sendable {
    /// The status; an informational one (1xx) is no final response and goes out as `500`.
    public var status: HTTPResponse.Status
    /// The fields, without those that the server adds: `Date`, `Content-Length`, `Connection`.
    public var fields: ResponseFields
    /// The whole body. It is not sent with `204` and `304` or in answer to `HEAD`.
    public var body: [UInt8]

    /// A response of these parts.
    public init(status: HTTPResponse.Status, fields: ResponseFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
