import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

extension ProblemCode {
    /// A failure of the server itself.
    static let internalError = ProblemCode(text: "internal-error", status: 500)
}

extension Problem {
    /// The problem of a request that no handler saw.
    init(_ failure: RequestFailure) {
        let code: ProblemCode =
            switch failure.kind {
            case .notFound: .notFound
            case .methodNotAllowed: .methodNotAllowed
            case .bodyTooLarge, .targetTooLong, .headersTooLarge: .tooLarge
            case .unanswered: .internalError
            case .overloaded: .overloaded
            case .malformed, .timeout, .expectationFailed, .methodNotImplemented, .codingNotImplemented, .versionNotSupported:
                .malformedRequest
            }
        self.init(code, failure.detail + ".", status: failure.status.code)
    }
}
