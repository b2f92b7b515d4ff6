/// What a route's parameters stand for in one request, as ranges of its head's bytes: text is made of those alone that are asked for.
struct RouteParameters: Sendable {
    let route: Route
    let ranges: [Range<Int>]

    func text(_ name: String, in head: RequestHead) -> String? {
        for index in ranges.indices where route.parameterNames[index] == name {
            let bytes = head.bytes
            return PercentEncoding.text(bytes.span, ranges[index])
        }
        return nil
    }
}
