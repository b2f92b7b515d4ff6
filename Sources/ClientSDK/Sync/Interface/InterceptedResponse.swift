/// An HTTP response that no Freshet server gives to such a request.
package struct InterceptedResponse: Hashable, Sendable {
    package var status: Int
    /// Its `Retry-After` in milliseconds.
    package var retryAfter: Int64?
    /// Why the response is not from a Freshet server.
    package var text: String

    package init(status: Int, retryAfter: Int64? = nil, _ text: String) {
        self.status = status
        self.retryAfter = retryAfter
        self.text = text
    }
}
