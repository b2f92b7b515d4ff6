import FreshetWire
import HTTPTypes

/// A collection's records, page by page.
struct RecordPages: Sendable {
    let remote: Remote
    let collection: String
    let prefix: String?
    private var after: String?
    private var isAtEnd = false

    /// The most records that one page asks for.
    static let pageSize = 1_000

    init(remote: Remote, collection: String, prefix: String? = nil) {
        self.remote = remote
        self.collection = collection
        self.prefix = prefix
    }

    /// The next page of at most `limit` records; `nil` after the last.
    mutating func next(limit: Int = pageSize) async throws(CommandFailure) -> RecordList? {
        guard !isAtEnd else { return nil }
        var path = "\(remote.namespace.path(ofCollection: collection))?limit=\(min(limit, Self.pageSize))"
        if let after { path += "&after=\(PercentEncoding.encode(after))" }
        if let prefix, !prefix.isEmpty { path += "&prefix=\(PercentEncoding.encode(prefix))" }
        let page = try await remote.ask(.get, path, as: RecordList.self)
        after = page.next
        isAtEnd = page.next == nil
        return page
    }

    /// All records of a collection.
    static func all(_ remote: Remote, _ collection: String) async throws(CommandFailure) -> [Record] {
        var pages = RecordPages(remote: remote, collection: collection)
        var records: [Record] = []
        while let page = try await pages.next() { records += page.records }
        return records
    }
}
