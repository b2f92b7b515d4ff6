package import HTTPTypes

/// One request as the transport sends it: only the parts that HTTP/1.1 requires are added. Redirects are not followed.
package struct HTTPRequestDescription: Sendable {
    /// `GET`, `POST` …
    package var method: HTTPRequest.Method
    /// The absolute URL, percent-encoded; its path is sent unchanged, including dot segments.
    package var url: String
    package var fields: HTTPFields
    /// `nil` for a request without content; an empty array sends `Content-Length: 0`. A `HEAD` has none.
    package var body: [UInt8]?
    /// From the start to the last byte, including the wait for a connection. Zero and less mean at once.
    package var timeout: Duration
    /// The most bytes that the response's content may have.
    package var maximumResponseSize: Int

    package init(
        method: HTTPRequest.Method = .get, url: String, fields: HTTPFields = [:], body: [UInt8]? = nil,
        timeout: Duration = .seconds(30), maximumResponseSize: Int = 64 << 20
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeout = timeout
        self.maximumResponseSize = maximumResponseSize
    }
}
