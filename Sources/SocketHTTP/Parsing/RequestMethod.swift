package import HTTPTypes

/// A method as one byte, so that requests are distinguished, copied and compared without text.
enum RequestMethod: UInt8, Sendable {
    case get
    case head
    case post
    case put
    case patch
    case delete
    case options
    case connect
    /// Any other token; only the request line says which.
    case other

    init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        self =
            switch range.count {
            case 3 where bytes.equals(range, "GET"): .get
            case 3 where bytes.equals(range, "PUT"): .put
            case 4 where bytes.equals(range, "POST"): .post
            case 4 where bytes.equals(range, "HEAD"): .head
            case 5 where bytes.equals(range, "PATCH"): .patch
            case 6 where bytes.equals(range, "DELETE"): .delete
            case 7 where bytes.equals(range, "OPTIONS"): .options
            case 7 where bytes.equals(range, "CONNECT"): .connect
            default: .other
            }
    }

    init(_ method: HTTPRequest.Method) {
        let bytes = Array(method.rawValue.utf8)
        self.init(bytes.span, 0..<bytes.count)
    }
}

extension RequestHead {
    /// The method as text.
    package var methodName: HTTPRequest.Method {
        switch line.method {
        case .get: .get
        case .head: .head
        case .post: .post
        case .put: .put
        case .patch: .patch
        case .delete: .delete
        case .options: .options
        case .connect: .connect
        // The parser has seen that it is a token, so this does not fail.
        case .other: HTTPRequest.Method(text(line.methodRange)) ?? .trace
        }
    }
}
