import FreshetSocketHTTP
import FreshetWire

extension ServerCore {
    /// `GET /v1/{ns}/changes`
    @Sendable func getChanges(_ context: RequestContext) throws {
        var changes = try ChangesRequest(context.request, hold: settings.hold)
        if let session = context.session { try changes.restrict(to: session.value) }
        try answer(context, changes)
    }

    private func answer(_ context: RequestContext, _ changes: ChangesRequest) throws {
        switch changes.selection.subscription.delivery {
        case .stream: EventStream.open(context, changes)
        case .response where changes.client != nil: context.later { [self] in try answerFromStore(context, changes, since: changes.since) }
        case .response:
            let poll = Poll(context, changes.selection, wait: changes.wait)
            context.request.onRepeat(varying: "since", poll)
            poll.ask(since: changes.since, context.exchange, releases: context.releases)
        }
    }

    /// Reads one page of the feed from the store. May block on the disk.
    ///
    /// - Parameter client: the device whose last decided write the result states.
    func scan(_ selection: ChangeSelection, since: Since, client: ClientIdentifier? = nil) throws(StoreError) -> Snapshot<ScanResult> {
        try store.scan(selection.query(since: since, client: client, settings.feed), in: selection.namespace)
    }

    /// Answers at once with the store's changes after a position, and with the number of the client's last write in the
    /// same snapshot.
    private func answerFromStore(_ context: RequestContext, _ changes: ChangesRequest, since: Since) throws {
        let found = try scan(changes.selection, since: since, client: changes.client)
        try context.requireNumber(of: changes.client)
        let part = changes.selection.subscription.part
        let reply: PollResult
        switch found.value {
        case .refused(let problem, let position): reply = .gone(problem, position)
        case .page(let page): reply = .page(page)
        case .nothing(let reached, isComplete: true):
            reply =
                changes.since == .now
                ? .page(PageEncoder(limit: 0, pageBytes: 0).page(at: reached.issued(to: part), upToDate: true))
                : .idle(reached.issued(to: part))
        case .nothing(let reached, isComplete: false):
            // Other requests have their turn before the next stretch.
            return context.later(isContinuation: true) { [self] in
                guard !context.exchange.isDisconnected else {
                    let reply = PollResult.page(changes.selection.unfinishedPage(at: reached))
                    return context.respond(Response(reply).stating(found.lastWrite))
                }
                try answerFromStore(context, changes, since: .after(reached))
            }
        }
        context.respond(Response(reply).stating(found.lastWrite))
    }
}

extension ChangeSelection {
    /// A page without changes, of a reader whose catch-up ends before the last change.
    func unfinishedPage(at reached: Cursor) -> FeedPage {
        PageEncoder(limit: 0, pageBytes: 0).page(at: reached.issued(to: subscription.part), upToDate: false)
    }
}
