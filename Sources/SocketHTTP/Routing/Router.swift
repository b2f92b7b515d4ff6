public import HTTPTypes

/// Finds the handler of a request by its path and method.
///
/// Patterns are segments joined with `/`, each literal or a `{parameter}`. A path is split before it is decoded, so that
/// `%2F` belongs to a segment; a literal beats a parameter; a parameter never matches an empty segment. `HEAD` goes to the
/// `GET` handler, `OPTIONS` is answered from the table.
public struct Router: Sendable {
    /// Answers one request through its exchange: at once or later, from any thread. It is called on an event loop, where
    /// it must not block.
    public typealias Handler = @Sendable (Request, Exchange) -> Void

    /// Decides by a request's head, at once or later, whether its body is received: calls the closure with the response that
    /// refuses the request, or `nil`. It is asked once for a body of more than 64 KiB, and for one before which the client waits
    /// for `100 Continue`; the request's `body` is empty. It is called on an event loop, where it must not block. It may call the
    /// closure from any thread; further calls have no effect. A refusal closes the connection, and a request that is never decided
    /// gets `408` after ``Limits/bodyTimeout``.
    public typealias Admission = @Sendable (Request, @escaping @Sendable (Response?) -> Void) -> Void

    /// Makes the response to every request that no handler answers, malformed requests included. It must not block.
    public var failure: @Sendable (RequestFailure) -> Response

    private var tree = RouteTree()
    private var methods: Set<HTTPRequest.Method> = Router.standardMethods

    /// A router without routes, which answers `404` to everything.
    public init(failure: @escaping @Sendable (RequestFailure) -> Response = RequestFailure.plainText) {
        self.failure = failure
    }

    /// Adds a route: `router.on(.get, "/v1/{namespace}/records/{collection}/{id}") { request, exchange in … }`.
    ///
    /// A second route of the same method and pattern replaces the first.
    ///
    /// - Parameter admission: decides whether a body is received; `nil` receives all.
    public mutating func on(
        _ method: HTTPRequest.Method, _ pattern: String, admission: Admission? = nil, _ handler: @escaping Handler
    ) {
        methods.insert(method)
        tree.insert(method, pattern, admission: admission, handler)
    }

    /// Methods that are known whether or not a route uses them. `CONNECT` is for proxies alone, and has no path.
    private static let standardMethods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Methods that are known, hence `405` and not `501`, and that the server as a whole does not support unless a
    /// route uses them. A server that reflects requests may reveal fields that a proxy has added to them (RFC 9110
    /// §9.3.8), so `TRACE` is never answered automatically.
    private static let otherMethods: Set<HTTPRequest.Method> = [.trace, .query]
}

extension Router {
    /// How a request is answered.
    enum Match {
        case route(RouteParameters)
        /// Answered from the table.
        case options(allow: String)
        case failure(RequestFailure, allow: String?)
    }

    func match(_ head: RequestHead) -> Match {
        let bytes = head.bytes
        var values: [Range<Int>] = []
        let place = tree.find(bytes.span, head.line.path, &values)
        if let place, let route = tree.route(head, at: place) { return .route(RouteParameters(route: route, ranges: values)) }
        return switch mismatch(head, allow: place.map(tree.allow)) {
        case .failure(let failure, let allow): .failure(failure.at(head.text(head.line.path)), allow: allow)
        case let other: other
        }
    }

    /// - Parameter allow: the methods of the path, or nil where there is no such path.
    private func mismatch(_ head: RequestHead, allow: String?) -> Match {
        let method = head.methodName
        guard methods.contains(method) || Self.otherMethods.contains(method) else {
            return .failure(RequestFailure(.methodNotImplemented, "No resource here has the method \(method.rawValue)"), allow: nil)
        }
        if head.isAboutTheServer {
            return .options(allow: methods.map(\.rawValue).sorted().joined(separator: ", "))
        }
        guard let allow else { return .failure(RequestFailure(.notFound, "Nothing is at this path"), allow: nil) }
        if method == .options { return .options(allow: allow) }
        return .failure(RequestFailure(.methodNotAllowed, "This path has \(allow)"), allow: allow)
    }
}

extension RequestHead {
    /// `OPTIONS *`, RFC 9110 §9.3.7.
    fileprivate var isAboutTheServer: Bool {
        line.method == .options && line.path.isEmpty && line.target.count == 1
    }
}
