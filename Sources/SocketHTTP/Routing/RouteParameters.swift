/// The values of a route's parameters in one request, as ranges of its head's bytes: only those that a handler asks for
/// become text.
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
