import HTTPTypes

/// A handler and what finds it.
struct Route: Sendable {
    let method: HTTPRequest.Method
    let parameterNames: [String]
    let handler: Router.Handler
}

/// One place in the tree of paths.
struct RouteNode: Sendable {
    private var literals: [String: RouteNode] = [:]
    /// The node that any other segment leads to; at most one, in an array because a struct cannot hold itself.
    private var parameter: [RouteNode] = []
    private var routes: [Route] = []
    /// The methods served here, as an `Allow` field lists them.
    private(set) var allow = ""

    static func parameterName(_ segment: Substring) -> String? {
        guard segment.first == "{", segment.last == "}" else { return nil }
        return String(segment.dropFirst().dropLast())
    }

    mutating func insert(_ segments: ArraySlice<Substring>, _ route: Route) {
        guard let first = segments.first else { return add(route) }
        guard RouteNode.parameterName(first) != nil else {
            return literals[String(first), default: RouteNode()].insert(segments.dropFirst(), route)
        }
        if parameter.isEmpty { parameter.append(RouteNode()) }
        parameter[0].insert(segments.dropFirst(), route)
    }

    /// The node with routes that `segments` lead to; `values` gains what the parameters on the way stand for.
    func find(_ segments: ArraySlice<String>, _ values: inout [String]) -> RouteNode? {
        guard let first = segments.first else { return routes.isEmpty ? nil : self }
        if let node = literals[first]?.find(segments.dropFirst(), &values) { return node }
        guard let node = parameter.first, !first.isEmpty else { return nil }
        values.append(first)
        if let found = node.find(segments.dropFirst(), &values) { return found }
        values.removeLast()
        return nil
    }

    func route(_ method: HTTPRequest.Method) -> Route? {
        routes.first { $0.method == method }
    }

    private mutating func add(_ route: Route) {
        routes.removeAll { $0.method == route.method }
        routes.append(route)
        var methods = Set(routes.map(\.method.rawValue))
        methods.insert(HTTPRequest.Method.options.rawValue)
        if methods.contains(HTTPRequest.Method.get.rawValue) { methods.insert(HTTPRequest.Method.head.rawValue) }
        allow = methods.sorted().joined(separator: ", ")
    }
}
