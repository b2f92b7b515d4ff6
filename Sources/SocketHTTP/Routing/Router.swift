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

    /// Makes the response for whatever no handler answers, malformed requests included. It must not block.
    public var failure: @Sendable (RequestFailure) -> Response

    private var root = RouteNode()
    private var methods: Set<HTTPRequest.Method> = Router.standardMethods

    /// A router without routes, which answers `404` to everything.
    public init(failure: @escaping @Sendable (RequestFailure) -> Response = RequestFailure.plainText) {
        self.failure = failure
    }

    /// Adds a route: `router.on(.get, "/v1/{namespace}/records/{collection}/{id}") { request, exchange in … }`.
    ///
    /// A second route of the same method and pattern replaces the first.
    public mutating func on(_ method: HTTPRequest.Method, _ pattern: String, _ handler: @escaping Handler) {
        let segments = pattern.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        methods.insert(method)
        root.insert(segments, Route(method: method, parameterNames: segments.compactMap(RouteNode.parameterName), handler: handler))
    }

    /// Methods that are known whether or not a route uses them: with others they would be answered `501`.
    private static let standardMethods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]
}

extension Router {
    /// What is to be done with a request.
    enum Match {
        case handler(Handler, RouteParameters)
        /// Answered from the table.
        case options(allow: String)
        case failure(RequestFailure, allow: String?)
    }

    func match(_ head: RequestHead) -> Match {
        let method = head.line.method
        guard methods.contains(method) else {
            return .failure(RequestFailure(.methodNotImplemented, "No resource here has the method \(method.rawValue)"), allow: nil)
        }
        if method == .options, head.isAboutTheServer {
            return .options(allow: methods.map(\.rawValue).sorted().joined(separator: ", "))
        }
        var values: [String] = []
        let segments = head.pathSegments()
        guard let node = root.find(segments[...], &values) else {
            return .failure(RequestFailure(.notFound, "Nothing is at this path"), allow: nil)
        }
        if let route = node.route(method) ?? (method == .head ? node.route(.get) : nil) {
            return .handler(route.handler, RouteParameters(names: route.parameterNames, values: values))
        }
        if method == .options { return .options(allow: node.allow) }
        return .failure(RequestFailure(.methodNotAllowed, "This path has \(node.allow)"), allow: node.allow)
    }
}

extension RequestHead {
    /// `OPTIONS *`, RFC 9110 §9.3.7.
    fileprivate var isAboutTheServer: Bool {
        line.path.isEmpty && line.target.count == 1
    }

    /// The path's segments, decoded. An absolute target without a path means `/`.
    fileprivate func pathSegments() -> [String] {
        let bytes = bytes.span
        var segments: [String] = []
        var start = min(line.path.lowerBound + 1, line.path.upperBound)
        while true {
            let end = bytes.firstIndex(of: UInt8(ascii: "/"), in: start..<line.path.upperBound) ?? line.path.upperBound
            segments.append(PercentEncoding.text(bytes, start..<end))
            guard end < line.path.upperBound else { return segments }
            start = end + 1
        }
    }
}
