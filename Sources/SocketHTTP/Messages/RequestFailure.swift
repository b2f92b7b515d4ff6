public import HTTPTypes

/// The reason why a request was answered without a handler, or in place of one.
public struct RequestFailure: Error, Sendable, Equatable {
    /// The kind of failure; each has its status.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// `400`: the bytes are not a request that RFC 9112 allows.
        case malformed
        /// `404`: no route has this path.
        case notFound
        /// `405`: the path has routes, none for this method. The answer gets its `Allow` field automatically.
        case methodNotAllowed
        /// `408`: the head or the body did not arrive in time.
        case timeout
        /// `413`: the body is larger than `Limits.bodyBytes`.
        case bodyTooLarge
        /// `414`: the target is longer than `Limits.targetBytes`.
        case targetTooLong
        /// `417`: an `Expect` other than `100-continue`.
        case expectationFailed
        /// `431`: the field lines are larger than `Limits.headerBytes`.
        case headersTooLarge
        /// `500`: the handler released its exchange without an answer.
        case unanswered
        /// `501`: a method that no route uses and RFC 9110 or 5789 does not define, or `CONNECT` (RFC 9110 §9.1).
        case methodNotImplemented
        /// `501`: a transfer coding other than `chunked`.
        case codingNotImplemented
        /// `503`: all connections, or those of the address, are taken, or `Limits.requestMemory` is. The answer gets a `Retry-After` field if it has none.
        case overloaded
        /// `505`: not HTTP/1.
        case versionNotSupported
    }

    /// The kind of failure.
    public var kind: Kind
    /// The cause, for the client's developer; one sentence without an end mark.
    public var detail: String
    /// The path of the request as it was sent, still percent-encoded; empty where it was not understood.
    public private(set) var path = ""

    init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    func at(_ path: String) -> RequestFailure {
        var failure = self
        failure.path = path
        return failure
    }

    /// The status that goes with the kind.
    public var status: HTTPResponse.Status {
        switch kind {
        case .malformed: .badRequest
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .timeout: .requestTimeout
        case .bodyTooLarge: .contentTooLarge
        case .targetTooLong: .uriTooLong
        case .expectationFailed: .expectationFailed
        case .headersTooLarge: .requestHeaderFieldsTooLarge
        case .unanswered: .internalServerError
        case .methodNotImplemented, .codingNotImplemented: .notImplemented
        case .overloaded: .serviceUnavailable
        case .versionNotSupported: .httpVersionNotSupported
        }
    }

    /// The failure as plain text: the default answer of a router.
    public static let plainText: @Sendable (RequestFailure) -> Response = { failure in
        Response(
            status: failure.status,
            fields: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store", .xContentTypeOptions: "nosniff"],
            body: Array("\(failure.detail)\n".utf8)
        )
    }
}
