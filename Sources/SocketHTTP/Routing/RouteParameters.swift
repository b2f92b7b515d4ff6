/// What a route's parameters stand for in one request.
struct RouteParameters: Sendable {
    let names: [String]
    let values: [String]

    subscript(name: String) -> String? {
        for (candidate, value) in zip(names, values) where candidate == name { return value }
        return nil
    }
}
