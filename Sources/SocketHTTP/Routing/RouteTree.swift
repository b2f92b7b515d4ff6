import HTTPTypes

/// A handler, and the method and parameter names of its route.
final class Route: Sendable {
    let method: HTTPRequest.Method
    let code: RequestMethod
    let parameterNames: [String]
    let admission: Router.Admission?
    let handler: Router.Handler

    init(_ method: HTTPRequest.Method, parameterNames: [String], admission: Router.Admission?, handler: @escaping Router.Handler) {
        self.method = method
        code = RequestMethod(method)
        self.parameterNames = parameterNames
        self.admission = admission
        self.handler = handler
    }
}

/// The tree of paths, its nodes in one array. Requests are matched on their bytes; text is made of parameters alone.
struct RouteTree: Sendable {
    /// A place in the tree.
    typealias NodeIndex = Int

    private struct Node {
        /// The few literal segments that lead on from here.
        var literals: [(segment: [UInt8], place: NodeIndex)] = []
        /// Where any other segment leads.
        var parameter: NodeIndex?
        var routes: [Route] = []
        /// The methods served here, as an `Allow` field lists them.
        var allow = ""
    }

    private var nodes = [Node()]
    /// How many parameters the route with most of them has.
    private var mostParameters = 0

    mutating func insert(
        _ method: HTTPRequest.Method, _ pattern: String, admission: Router.Admission?, _ handler: @escaping Router.Handler
    ) {
        var place = 0
        var names: [String] = []
        for segment in pattern.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            if segment.first == "{", segment.last == "}" {
                names.append(String(segment.dropFirst().dropLast()))
                place = parameter(at: place)
            } else {
                place = literal(Array(segment.utf8), at: place)
            }
        }
        mostParameters = max(mostParameters, names.count)
        let route = Route(method, parameterNames: names, admission: admission, handler: handler)
        nodes[place].routes.removeAll { $0.method == method }
        nodes[place].routes.append(route)
        nodes[place].allow = RouteTree.allow(nodes[place].routes)
    }

    /// The place with routes that `path` leads to; `values` gains the segments that parameters stand for.
    ///
    /// An empty path, as an absolute target may have, means `/`.
    func find(_ bytes: Span<UInt8>, _ path: Range<Int>, _ values: inout [Range<Int>]) -> NodeIndex? {
        let start = min(path.lowerBound + 1, path.upperBound)
        values.reserveCapacity(mostParameters)
        let isEncoded = bytes.firstIndex(of: PercentEncoding.percent, in: path) != nil
        return find(bytes, start..<path.upperBound, isEncoded, from: 0, &values)
    }

    /// The route of a request's method; `GET` serves `HEAD` too.
    func route(_ head: RequestHead, at place: NodeIndex) -> Route? {
        let code = head.line.method
        let found = nodes[place].routes.first { $0.code == code && (code != .other || $0.method == head.methodName) }
        return found ?? (code == .head ? nodes[place].routes.first { $0.code == .get } : nil)
    }

    func allow(at place: NodeIndex) -> String { nodes[place].allow }

    /// - Parameters:
    ///   - rest: the path from the segment that follows `place` on.
    ///   - isEncoded: whether there is an escape anywhere in the path.
    private func find(
        _ bytes: Span<UInt8>, _ rest: Range<Int>, _ isEncoded: Bool, from place: NodeIndex, _ values: inout [Range<Int>]
    ) -> NodeIndex? {
        let end = bytes.firstIndex(of: UInt8(ascii: "/"), in: rest) ?? rest.upperBound
        let segment = rest.lowerBound..<end
        if let next = literal(bytes, segment, isEncoded, at: place), let found = follow(bytes, end, rest, isEncoded, to: next, &values) {
            return found
        }
        guard let next = nodes[place].parameter, !segment.isEmpty else { return nil }
        values.append(segment)
        if let found = follow(bytes, end, rest, isEncoded, to: next, &values) { return found }
        values.removeLast()
        return nil
    }

    private func follow(
        _ bytes: Span<UInt8>, _ end: Int, _ rest: Range<Int>, _ isEncoded: Bool, to place: NodeIndex, _ values: inout [Range<Int>]
    ) -> NodeIndex? {
        guard end == rest.upperBound else { return find(bytes, end + 1..<rest.upperBound, isEncoded, from: place, &values) }
        return nodes[place].routes.isEmpty ? nil : place
    }

    /// Where a segment leads that stands literally in a pattern, however it is encoded.
    private func literal(_ bytes: Span<UInt8>, _ segment: Range<Int>, _ isEncoded: Bool, at place: NodeIndex) -> NodeIndex? {
        if isEncoded {
            let decoded = PercentEncoding.decode(bytes, segment)
            return nodes[place].literals.first { $0.segment == decoded }?.place
        }
        for index in nodes[place].literals.indices where bytes.equals(segment, nodes[place].literals[index].segment) {
            return nodes[place].literals[index].place
        }
        return nil
    }

    private mutating func parameter(at place: NodeIndex) -> NodeIndex {
        if let next = nodes[place].parameter { return next }
        nodes.append(Node())
        nodes[place].parameter = nodes.count - 1
        return nodes.count - 1
    }

    private mutating func literal(_ segment: [UInt8], at place: NodeIndex) -> NodeIndex {
        if let next = nodes[place].literals.first(where: { $0.segment == segment }) { return next.place }
        nodes.append(Node())
        nodes[place].literals.append((segment, nodes.count - 1))
        return nodes.count - 1
    }

    private static func allow(_ routes: [Route]) -> String {
        var methods = Set(routes.map(\.method.rawValue))
        methods.insert(HTTPRequest.Method.options.rawValue)
        if methods.contains(HTTPRequest.Method.get.rawValue) { methods.insert(HTTPRequest.Method.head.rawValue) }
        return methods.sorted().joined(separator: ", ")
    }
}

extension Span<UInt8> {
    /// Whether the bytes in `range` are those of `other`.
    func equals(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
        guard range.count == other.count else { return false }
        for offset in other.indices where self[range.lowerBound + offset] != other[offset] { return false }
        return true
    }
}
