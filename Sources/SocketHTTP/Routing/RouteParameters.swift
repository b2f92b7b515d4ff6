/// What a route's parameters stand for in one request.
struct RouteParameters: Sendable {
    let route: Route
    let values: [String]

    subscript(name: String) -> String? {
        for (candidate, value) in zip(route.parameterNames, values) where candidate == name { return value }
        return nil
    }
}
