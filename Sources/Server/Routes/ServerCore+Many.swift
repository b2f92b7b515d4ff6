import FreshetSocketHTTP
import FreshetTrust
import FreshetWire

extension ServerCore {
    /// The most bytes of values in one answer with many records.
    private static let byteLimit = 4 << 20

    /// `GET /v1/{ns}/records/{collection}`
    @Sendable func listRecords(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        let parameters = Parameters(context.request)
        let collection = context.request.parameter("collection")
        try RecordKey.check(collection: collection)
        let query = ListQuery(
            collection: collection, after: parameters.text("after"), prefix: try parameters.prefix(),
            limit: try parameters.integer("limit", in: 1...RecordList.maximumCount) ?? 100, byteLimit: Self.byteLimit)
        let hasValues = try parameters.boolean("values") ?? true
        context.later { [self] in
            let snapshot = try store.records(query, in: namespace)
            let records = hasValues ? snapshot.value.records : snapshot.value.records.map(\.withoutValue)
            let cursor = context.issued(snapshot.cursor)
            let list = RecordList(records: records, next: snapshot.value.next, cursor: cursor)
            context.respond(json: list.json, at: cursor)
        }
    }

    /// `POST /v1/{ns}/reads`
    @Sendable func read(_ context: RequestContext) throws {
        try context.requireJSON()
        let namespace = try context.namespace()
        context.later { [self] in
            let request = try ReadsRequest(json: context.request.body, profile: .interoperable)
            let readable = ReadableItems(request, context.rights, in: namespace)
            let snapshot = try store.records(readable.request, in: namespace)
            try context.requireNumber(of: request.client)
            let response = readable.response(snapshot, at: context.issued(snapshot.cursor))
            context.respond(Response(json: response.json, at: response.cursor).stating(snapshot.lastWrite))
        }
    }

    /// `POST /v1/{ns}/writes`
    @Sendable func write(_ context: RequestContext) throws {
        try context.requireJSON()
        let namespace = try context.namespace()
        let start = environment.monotonicNanoseconds()
        try committer.checkRoom(in: namespace)
        context.nowOrLater { [self] in
            let batch = try WriteBatch(json: context.request.body, profile: .interoperable)
            let client = batch.client
            if let session = context.session { try access?.limits.count(session, writesOfBatch: batch.writes.count) }
            let access = context.writeAccess(in: namespace)
            committer.submit(
                .batch(batch, in: namespace, by: access) { [self] committed in
                    metrics.writeSeconds.record(Double(environment.monotonicNanoseconds() - start) / 1e9)
                    let committed = access.map { $0.shown(committed, of: batch) } ?? committed
                    let outcomes = (try? committed.result.get()) ?? []
                    if access != nil { noteDenied(outcomes, context) }
                    // A repeated write has the same outcome, and creates nothing.
                    let isCreation = outcomes.contains { $0.verdict.revision?.number == 1 } && creations.take(namespace)
                    let events = isCreation ? [context.event(.namespaceCreated)] : []
                    guard outcomes.contains(where: \.showsOutline) else { return respond(context, to: committed, logging: events) }
                    context.later(isContinuation: true) { [self] in
                        // The outcomes are decided, so they are sent even if the records cannot be read.
                        let complete = reading {
                            try RejectionRecords.read(committed, of: client, in: namespace, from: store)
                        }
                        respond(context, to: complete ?? committed, logging: events)
                    }
                })
        }
    }

    /// Notes the first write of a batch that was refused for want of a right.
    private func noteDenied(_ outcomes: [WriteOutcome], _ context: RequestContext) {
        for case .rejected(let problem) in outcomes.lazy.map(\.verdict) where problem.code == .forbidden {
            return noteDenial(problem, to: context.session, of: .write, in: try? context.namespace(), context.request)
        }
    }

    private func respond(_ context: RequestContext, to committed: Committed<[WriteOutcome]>, logging events: [AuditRecord]) {
        switch (committed.result, committed.cursor) {
        case (.success(let outcomes), let cursor?):
            let isOver = problem(of: context.session) != nil
            let results = WriteResults(results: isOver ? outcomes.map(\.withoutRecord) : outcomes, cursor: context.issued(cursor))
            // Decided writes are acknowledged although their session has ended, without the records that they have met.
            context.respond(
                Response(json: results.json, at: results.cursor).stating(committed.lastWrite), logging: events, endsSession: true)
        case (.success, nil): context.fail(Problem(.storageFailed, "The writes are on disk, but the store did not say where it stands"))
        case (.failure(let problem), let cursor): context.fail(problem, at: cursor)
        }
    }

    /// The result of a read; `nil` if the store fails, which is logged.
    func reading<Result>(_ body: () throws -> Result) -> Result? {
        do { return try body() } catch {
            _ = problem(error)
            return nil
        }
    }

    /// `POST /v1/{ns}/invalidations`
    @Sendable func invalidate(_ context: RequestContext) throws {
        try context.requireJSON()
        let namespace = try context.namespace()
        context.nowOrLater { [self] in
            let scopes = try InvalidationRequest(json: context.request.body, profile: .interoperable).scopes
            if let session = context.session {
                // Each scope takes a revision and a row, as a write does.
                try access?.limits.count(session, writesOfBatch: scopes.count)
                for scope in scopes { try context.require(.invalidate, of: scope) }
            }
            committer.submit(
                .invalidate(scopes, in: namespace, by: context.writeAccess(in: namespace)) { [self] committed in
                    switch committed.result {
                    case .success(let revision):
                        var events: [AuditRecord] = []
                        if creations.take(namespace) { events.append(context.event(.namespaceCreated)) }
                        if scopes.contains(.everything) { events.append(context.event(.everythingInvalidated)) }
                        var writer = JSONWriter(capacity: 32)
                        writer.beginObject()
                        writer.member("revision", revision.number)
                        writer.endObject()
                        context.respond(
                            Response(json: writer.bytes, at: committed.cursor.map(context.issued)), logging: events, endsSession: true)
                    case .failure(let problem): context.fail(problem, at: committed.cursor)
                    }
                })
        }
    }

    /// `GET /v1/{ns}/clients/{client}`
    @Sendable func getClient(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        let client = try ClientIdentifier(context.request.parameter("client"))
        let snapshot = try store.lastWrite(of: client, in: namespace)
        try context.requireNumber(of: client)
        context.respond(json: ClientStatus(client: client, last: snapshot.value).json, at: context.issued(snapshot.cursor))
    }
}

extension WriteOutcome {
    /// The outcome for a sender that may not learn the record that a rejection shows.
    fileprivate var withoutRecord: WriteOutcome {
        guard case .rejected(var problem) = verdict, problem.current != nil else { return self }
        problem.current = nil
        return WriteOutcome(number: number, verdict: .rejected(problem))
    }
}

extension WriteOutcome.Verdict {
    /// The revision of a write that took effect.
    fileprivate var revision: Revision? { if case .applied(let revision) = self { revision } else { nil } }
}
