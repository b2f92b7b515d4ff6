extension Namespace {
    /// `/v1/{ns}`
    package var path: String { "/v1/\(name)" }
    /// `/v1/{ns}/records/{collection}/{id}`, the id percent-encoded. A path that would end in a dot segment is encoded too.
    package func path(of key: RecordKey) -> String { "\(path)/records/\(Self.segment(key.collection))/\(Self.segment(key.id))" }
    /// The path of a record, with the device whose last decided write the response states.
    package func path(of key: RecordKey, client: ClientIdentifier?) -> String {
        path(of: key) + (client.map { "?client=\($0)" } ?? "")
    }
    /// `/v1/{ns}/records/{collection}`
    package func path(ofCollection collection: String) -> String { "\(path)/records/\(Self.segment(collection))" }
    /// `/v1/{ns}/records/{collection}` with the query for one page.
    /// - Parameters:
    ///   - collection: the collection to list.
    ///   - after: the `next` of the previous page; `nil` for the first page.
    ///   - limit: the most records in one answer, 1 to 1,000.
    ///   - values: whether records carry their values.
    package func listPath(of collection: String, after: String?, limit: Int, values: Bool) -> String {
        var path = "\(path(ofCollection: collection))?limit=\(limit)"
        if let after { path += "&after=\(PercentEncoding.encode(after))" }
        if !values { path += "&values=false" }
        return path
    }
    /// `/v1/{ns}/rights`
    package var rightsPath: String { "\(path)/rights" }
    /// `/v1/{ns}/reads`
    package var readsPath: String { "\(path)/reads" }
    /// `/v1/{ns}/writes`
    package var writesPath: String { "\(path)/writes" }
    /// `/v1/{ns}/invalidations`
    package var invalidationsPath: String { "\(path)/invalidations" }
    /// `/v1/{ns}/clients/{client}`
    package func path(of client: ClientIdentifier) -> String { "\(path)/clients/\(Self.segment(client.text))" }

    /// `/v1/{ns}/changes` with its query.
    /// - Parameters:
    ///   - since: the position from which to begin.
    ///   - filter: the changes that are wanted.
    ///   - wait: seconds to wait if there is nothing, 0 to 60.
    ///   - limit: the most changes in one answer.
    ///   - values: whether changes carry their values.
    ///   - client: the device whose last decided write the response states; needs a `wait` of 0.
    package func changesPath(
        since: Since, filter: ChangeFilter, wait: Int, limit: Int, values: Bool, client: ClientIdentifier? = nil
    ) -> String {
        var path = "\(path)/changes?since=\(since)&wait=\(wait)&limit=\(limit)"
        for collection in filter.collections { path += "&collection=\(collection)" }
        if !filter.prefix.isEmpty { path += "&prefix=\(PercentEncoding.encode(filter.prefix))" }
        if !values { path += "&values=false" }
        if let client { path += "&client=\(client)" }
        return path
    }

    /// `.` and `..` as a whole segment would be taken as steps in the path (RFC 3986 §5.2.4), also in the form `%2E`:
    /// by default, HTTP libraries normalise them away.
    private static func segment(_ text: String) -> String {
        text == "." || text == ".." ? text.utf8.map { _ in "%2E" }.joined() : PercentEncoding.encode(text)
    }
}
