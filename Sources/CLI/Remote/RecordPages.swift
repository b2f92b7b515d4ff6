import FreshetClient
import FreshetTransport
import FreshetWire
import HTTPTypes

/// A collection's records, page by page.
struct RecordPages: Sendable {
    let remote: Remote
    let collection: String
    let prefix: String?
    private let retries: RetrySchedule
    private var after: String?
    private var isAtEnd = false

    /// The most records that one page asks for.
    static let pageSize = RecordList.maximumCount

    /// - Parameters:
    ///   - after: only ids after this one.
    ///   - retries: for all pages but the first: if no page has been read, the address is probably wrong.
    init(remote: Remote, collection: String, prefix: String? = nil, after: String? = nil, retries: RetrySchedule = .none) {
        self.remote = remote
        self.collection = collection
        self.prefix = prefix
        self.after = after
        self.retries = retries
    }

    /// The next page of at most `limit` records; `nil` after the last.
    mutating func next(limit: Int = pageSize) async throws(CommandFailure) -> RecordList? {
        guard !isAtEnd else { return nil }
        let page = try RecordList(of: try await remote.reply(.get, path(after: after, limit: limit)))
        try check(next: page.next, after: after)
        after = page.next
        isAtEnd = page.next == nil
        return page
    }

    /// Passes all pages to `body`, one after the other, and fetches the next page meanwhile.
    /// - Parameter limit: the most records in all.
    func forEachPage(limit: Int = .max, _ body: (EncodedPage) throws(CommandFailure) -> Void) async throws(CommandFailure) {
        var left = limit
        var page: EncodedPage? = try await page(after: after, limit: left, retries: .none)
        while let current = page {
            left -= current.count
            guard left > 0, let next = current.next else { return try body(current) }
            let following = Task { [left] in await result(after: next, limit: left) }
            do throws(CommandFailure) {
                try body(current)
            } catch {
                following.cancel()
                throw error
            }
            page = try await following.value.get()
        }
    }

    private func result(after: String, limit: Int) async -> Result<EncodedPage, CommandFailure> {
        do throws(CommandFailure) {
            return .success(try await page(after: after, limit: limit, retries: retries))
        } catch {
            return .failure(error)
        }
    }

    private func page(after: String?, limit: Int, retries: RetrySchedule) async throws(CommandFailure) -> EncodedPage {
        let reply = try await remote.reply(.get, path(after: after, limit: limit), isRepeatable: true, retries: retries)
        let page: EncodedPage
        do throws(WireError) {
            page = try EncodedPage(json: reply.body)
        } catch {
            throw CommandFailure(unreadable: error)
        }
        try check(next: page.next, after: after)
        return page
    }

    /// Throws if the page after `after` leads to one that is not after it: the list would have no end.
    private func check(next: String?, after: String?) throws(CommandFailure) {
        guard let next, let after, !after.utf8.lexicographicallyPrecedes(next.utf8) else { return }
        throw CommandFailure(
            wrongPage: "the page after '\(after.shortened)' leads to '\(next.shortened)', which is not after it", server: remote.server)
    }

    private func path(after: String?, limit: Int) -> String {
        var path = "\(remote.namespace.path(ofCollection: collection))?limit=\(min(limit, Self.pageSize))"
        if let after { path += "&after=\(PercentEncoding.encode(after))" }
        if let prefix, !prefix.isEmpty { path += "&prefix=\(PercentEncoding.encode(prefix))" }
        return path
    }

    /// All records of a collection.
    static func all(_ remote: Remote, _ collection: String) async throws(CommandFailure) -> [Record] {
        var pages = RecordPages(remote: remote, collection: collection)
        var records: [Record] = []
        while let page = try await pages.next() { records += page.records }
        return records
    }
}
