import FreshetPlatform
import FreshetWire

/// Lists collections of which the device may hold only a part.
///
/// The server gives the keys and their revisions, page by page and without values. Then the disk's rows of the collection
/// show where the server and the device differ: listed records that the device lacks or holds in an earlier version, and
/// held records that no page had. The ``Reader`` reads these, so that they pass its staleness check. What it has read is
/// kept to the end of the list, since the disk may evict it or may not have taken it.
struct Lister: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// The next page is to be requested.
        case paging
        case requested(RequestID)
        /// All pages are there, and the disk is to be asked for its rows of the collection.
        case listed
        case comparing(CachedKeyQuery)
        case reading
    }

    /// The result of a read.
    struct Found: Hashable, Sendable {
        var revision: Revision
        var exists: Bool
        /// The record, for a list of records.
        var view: KeyView?

        init(_ view: KeyView, of purpose: ListRequest.Purpose) {
            revision = view.entry?.revision ?? .zero
            exists = view.entry.map { $0.content != nil || $0.lacksValue } ?? false
            if case .records = purpose { self.view = KeyView(view.key, view.entry) }
        }
    }

    /// A list from its first page to its end.
    struct Progress: Hashable, Sendable {
        var step = Step.paging
        /// The id after which the next page begins; `nil` for the first page.
        var after: String?
        /// A page of an earlier position is refused.
        var lowerBound = Revision.zero
        /// The revisions of the keys of all pages.
        var listed: [RecordKey: Revision] = [:]
        /// Held keys that no page had; `nil` before the first comparison. Their records came after their page, or they are gone and no
        /// change has reported this yet.
        var unlisted: Set<RecordKey>?
        var unread: ArraySlice<RecordKey> = []
        var found: [RecordKey: Found] = [:]
        /// The failure of a read for observers. The other records are read all the same.
        var failure: SyncFailure?
    }

    struct List: Hashable, Sendable {
        let request: ListRequest
        var progress = Progress()
        /// The most keys of a page; reduced after a response that was too large.
        var limit = RecordList.maximumCount
        /// When the caller gives up the present page, in milliseconds of uptime; `Int64.max` for observers.
        var deadline: Int64
        /// The failures of the present page.
        var attempts = 0
        var retry = Retry()

        var isForObservers: Bool { request.purpose == .observers }
    }

    private var lists: [CallerID: List] = [:]

    private var order: [CallerID] { lists.keys.sorted() }

    // MARK: Asking

    mutating func add(_ request: ListRequest, _ turn: Turn) {
        lists[request.callerID] = List(request: request, deadline: Self.deadline(of: request, turn))
    }

    /// The end of the attempts at a page that begin now.
    private static func deadline(of request: ListRequest, _ turn: Turn) -> Int64 {
        let (deadline, isEndless) = turn.now.uptime.addingReportingOverflow(turn.settings.readTimeout)
        return isEndless || request.purpose == .observers ? .max : deadline
    }

    func contains(_ callerID: CallerID) -> Bool { lists[callerID] != nil }
    func isReading(_ callerID: CallerID) -> Bool { lists[callerID]?.progress.step == .reading }
    var isEmpty: Bool { lists.isEmpty }

    /// Requests the pages and the rows that can be requested. Returns whether a caller had to be refused, since the server cannot be reached.
    mutating func advance(
        _ state: SyncState, _ reachability: Reachability, _ requests: inout RequestTable, _ turn: inout Turn
    ) -> Bool {
        guard !lists.isEmpty else { return false }
        var isRefused = false
        for callerID in order {
            guard var list = lists[callerID] else { continue }
            if list.progress.step == .listed {
                let query = CachedKeyQuery(.collection(list.request.collection), after: nil, limit: .max, generation: requests.generation)
                lists[callerID]?.progress.step = .comparing(query)
                turn.emit(.loadCachedKeys(query))
            }
            guard list.progress.step == .paging, list.retry.isDue(turn) else { continue }
            if let outage = reachability.outage {
                guard !list.isForObservers else { continue }
                isRefused = true
                end(callerID, .failed(.offline(outage)), &turn)
                continue
            }
            list.progress.lowerBound = Reader.lowerBound(nil, state)
            let timeout = max(1, min(turn.settings.requestTimeout, list.deadline - turn.now.uptime))
            let limit = min(list.limit, turn.settings.pageLimit)
            let id = requests.send(
                .list(list.request.collection, after: list.progress.after, limit: limit), for: .list(callerID),
                needsFreshToken: list.retry.needsFreshToken, timeout: timeout, &turn)
            list.progress.step = .requested(id)
            lists[callerID] = list
        }
        return isRefused
    }

    /// The next time at which a page can be requested, or a caller gives up.
    func deadline(after uptime: Int64) -> Int64? {
        let waiting = lists.values.lazy.filter { $0.progress.step == .paging }
        return waiting.flatMap { [$0.retry.notBefore, $0.deadline] }.filter { $0 > uptime && $0 < .max }.min()
    }

    /// Answers the callers that have waited for a page for as long as a read may take, while no request could be sent.
    mutating func expire(_ turn: inout Turn) {
        for callerID in order {
            guard let list = lists[callerID], list.progress.step == .paging, list.deadline <= turn.now.uptime else { continue }
            end(callerID, .failed(.offline(.interrupted("no answer within \(turn.settings.readTimeout) ms"))), &turn)
        }
    }

    private mutating func end(_ callerID: CallerID, _ result: CallResult, _ turn: inout Turn) {
        lists[callerID] = nil
        turn.emit(.complete(callerID, result))
    }

    // MARK: Pages

    mutating func take(
        _ reply: Reply, to sent: RequestTable.Request, of callerID: CallerID, _ state: SyncState, _ turn: inout Turn
    ) {
        released(callerID)
        switch reply {
        case .list(let page):
            if let failure = fault(of: page, callerID, state) { return fail(callerID, failure, isFinal: failure != .outdated, &turn) }
            take(page, of: callerID, turn)
        case .problem(let problem, _, _) where problem.status == 401 && !sent.hadFreshToken: lists[callerID]?.retry.refuseToken()
        case .problem(let problem, _, let retryAfter):
            fail(callerID, .refused(problem), after: retryAfter, isFinal: !problem.mayPass, &turn)
        case .tooLarge(let text):
            let limit = min(lists[callerID]?.limit ?? 1, turn.settings.pageLimit)
            guard limit > 1 else { return fail(callerID, .tooLarge(text), isFinal: true, &turn) }
            lists[callerID]?.limit = limit / 2
        case .failure(let failure): fail(callerID, .offline(failure), after: failure.retryAfter, &turn)
        case .garbage(let text): fail(callerID, .malformed(text), &turn)
        case .page, .noChange, .results, .reads, .record, .notModified, .missing, .client:
            fail(callerID, .malformed("an answer that does not belong to a list"), &turn)
        }
    }

    /// Why the page cannot be used; `nil` if it can. The position of another history was handled before.
    private func fault(of page: RecordList, _ callerID: CallerID, _ state: SyncState) -> SyncFailure? {
        guard let list = lists[callerID] else { return nil }
        // Under other rights than the feed's, the feed may not bring the changes of the records.
        guard page.cursor.revision >= list.progress.lowerBound, state.cursor.map({ $0.rights == page.cursor.rights }) ?? true else {
            return .outdated
        }
        guard page.records.allSatisfy({ ByteIdentity.areEqual($0.key.collection, list.request.collection) }) else {
            return .malformed("the list has records of another collection")
        }
        // Otherwise a list would have no end.
        if let next = page.next, let after = list.progress.after, !after.utf8.lexicographicallyPrecedes(next.utf8) {
            return .malformed("the list's next page is not after this one")
        }
        return nil
    }

    private mutating func take(_ page: RecordList, of callerID: CallerID, _ turn: Turn) {
        guard var list = lists[callerID] else { return }
        for record in page.records { list.progress.listed[record.key] = record.revision }
        list.progress.after = page.next
        list.attempts = 0
        list.deadline = Self.deadline(of: list.request, turn)
        // The back-off of a list for observers lasts until the list has succeeded.
        if list.isForObservers { list.retry.acceptToken() } else { list.retry.succeed() }
        if page.next == nil { list.progress.step = .listed }
        lists[callerID] = list
    }

    // MARK: Comparing and reading

    func isWaiting(for query: CachedKeyQuery) -> Bool { lists.values.contains { $0.progress.step == .comparing(query) } }

    /// The list that waits for the answer to this query. Lists of the same collection have equal queries, and equal answers.
    private func caller(of query: CachedKeyQuery) -> CallerID? { order.first { lists[$0]?.progress.step == .comparing(query) } }

    /// Takes the disk's rows of the collection.
    mutating func take(_ rows: [CachedKey], for query: CachedKeyQuery, _ local: LocalState, _ turn: inout Turn) {
        guard let callerID = caller(of: query), var list = lists[callerID] else { return }
        let comparison = Comparison(rows, local, turn.settings)
        if list.progress.unlisted == nil {
            list.progress.unlisted = Set(comparison.unlisted(list))
        }
        let unread = comparison.unread(list).sorted()
        list.progress.unread = unread[...]
        lists[callerID] = list
        if !unread.isEmpty { return readNext(callerID, &turn) }
        if let failure = comparison.unstored(list) { return fail(callerID, failure, isFinal: true, &turn) }
        end(callerID, comparison.result(list), &turn)
    }

    /// Handles a failure of the disk to return its rows.
    mutating func failed(_ query: CachedKeyQuery, _ failure: DiskFailure, _ turn: inout Turn) {
        if let callerID = caller(of: query) { fail(callerID, .disk(failure), isFinal: true, &turn) }
    }

    /// Reads the next records, as many as one request may ask for.
    private mutating func readNext(_ callerID: CallerID, _ turn: inout Turn) {
        guard let keys = lists[callerID]?.progress.unread.prefix(turn.settings.fetchKeys) else { return }
        lists[callerID]?.progress.unread.removeFirst(keys.count)
        lists[callerID]?.progress.step = .reading
        turn.emit(.read(callerID, Array(keys)))
    }

    /// Takes the reader's answer, and reads the next records or compares again: entries may have been evicted in the meantime.
    mutating func take(_ result: CallResult, of callerID: CallerID, _ turn: inout Turn) {
        guard var list = lists[callerID], list.progress.step == .reading else { return }
        switch result {
        case .views(let views):
            for view in views { list.progress.found[view.key] = Found(view, of: list.request.purpose) }
        case .failed(let failure):
            if case .offline = failure { return fail(callerID, failure, isFinal: true, &turn) }
            guard list.isForObservers else { return end(callerID, result, &turn) }
            list.progress.failure = failure
        case .accepted, .listed, .discarded, .verified, .cleared: return
        }
        if list.progress.unread.isEmpty, list.progress.failure == nil { list.progress.step = .listed }
        lists[callerID] = list
        if !list.progress.unread.isEmpty { return readNext(callerID, &turn) }
        if let failure = list.progress.failure { fail(callerID, failure, isFinal: true, &turn) }
    }

    // MARK: Trouble

    /// Schedules another attempt, or answers the caller. A list for observers waits longer each time. Where another attempt would fail
    /// again, it waits until the device is live again.
    ///
    /// - Parameter isFinal: whether a caller gets the failure at once.
    private mutating func fail(
        _ callerID: CallerID, _ failure: SyncFailure, after retryAfter: Int64? = nil, isFinal: Bool = false, _ turn: inout Turn
    ) {
        guard var list = lists[callerID] else { return }
        list.attempts += 1
        list.retry.fail(&turn, retryAfter: retryAfter)
        guard list.isForObservers else {
            let isGivenUp = isFinal || list.attempts >= turn.settings.fetchAttempts || list.retry.notBefore >= list.deadline
            lists[callerID] = list
            if isGivenUp { end(callerID, .failed(failure), &turn) }
            return
        }
        if list.progress.step != .paging { list.progress = Progress() }
        if isFinal, failure.lasts { list.retry.park() }
        if list.retry.failures == 1 {
            let next = list.retry.isParked ? "when the device is live again" : "with back-off"
            turn.log(
                .warning, "the observed records of \(list.request.collection) were not listed, and are requested again \(next): \(failure)")
        }
        lists[callerID] = list
    }

    // MARK: Other events

    /// Notes that the request has ended without a usable response.
    mutating func released(_ callerID: CallerID) {
        if case .requested = lists[callerID]?.progress.step { lists[callerID]?.progress.step = .paging }
    }

    /// Removes the list. Returns its request in flight.
    mutating func abandon(_ callerID: CallerID) -> RequestID? {
        if case .requested(let id)? = lists.removeValue(forKey: callerID)?.progress.step { id } else { nil }
    }

    /// Removes all lists. Returns the ids of their callers, in order.
    mutating func removeAll() -> [CallerID] {
        defer { lists = [:] }
        return order
    }

    /// Begins all lists again after a reset. Returns the ids of those whose reads are to be abandoned.
    mutating func reset() -> [CallerID] {
        let reading = order.filter(isReading)
        for callerID in order {
            lists[callerID]?.progress = Progress()
            lists[callerID]?.retry.hurry()
        }
        return reading
    }

    /// Ends the waits after failures, since the device is live again.
    mutating func becameLive() { for callerID in order { lists[callerID]?.retry.hurry() } }

    mutating func wake() {
        for callerID in order {
            lists[callerID]?.retry.wake()
            lists[callerID]?.attempts = 0
        }
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64, _ requests: RequestTable) {
        for (callerID, var list) in lists {
            if case .requested(let id) = list.progress.step, let id = requests.relativeID(of: id) { list.progress.step = .requested(id) }
            if case .comparing(var query) = list.progress.step {
                query.generation = 0
                list.progress.step = .comparing(query)
            }
            if list.deadline < .max { list.deadline -= uptime }
            list.retry.makeRelative(to: uptime)
            lists[callerID] = list
        }
    }
}

extension Problem {
    /// Whether the request may succeed later without a change by the user.
    fileprivate var mayPass: Bool { status >= 500 || [408, 410, 425, 429].contains(status) }
}

extension SyncFailure {
    /// Whether another attempt would fail again while nothing else changes.
    fileprivate var lasts: Bool {
        switch self {
        case .tooLarge: true
        case .refused(let problem): !problem.mayPass && problem.status != 401
        default: false
        }
    }
}
