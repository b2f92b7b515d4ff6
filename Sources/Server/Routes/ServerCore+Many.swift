import FreshetWire
import SocketHTTP

extension ServerCore {
    /// The most bytes of values in one answer with many records.
    private static let byteLimit = 4 << 20

    /// `GET /v1/{ns}/records/{collection}`
    @Sendable func listRecords(_ call: Call) throws {
        let namespace = try call.namespace()
        let parameters = Parameters(call.request)
        let collection = call.request.parameter("collection")
        try RecordKey.check(collection: collection)
        let query = ListQuery(
            collection: collection, after: parameters.text("after"), prefix: try parameters.prefix(),
            limit: try parameters.integer("limit", in: 1...1_000) ?? 100, byteLimit: Self.byteLimit)
        let hasValues = try parameters.boolean("values") ?? true
        call.later { [self] in
            let snapshot = try store.records(query, in: namespace)
            let records = hasValues ? snapshot.value.records : snapshot.value.records.map(\.withoutValue)
            let list = RecordList(records: records, next: snapshot.value.next, cursor: snapshot.cursor)
            call.respond(json: list.json, at: snapshot.cursor)
        }
    }

    /// `POST /v1/{ns}/reads`
    @Sendable func read(_ call: Call) throws {
        try call.requireJSON()
        let namespace = try call.namespace()
        call.later { [self] in
            let request = try ReadsRequest(json: call.request.body, profile: .interoperable)
            let snapshot = try store.records(request, in: namespace)
            let found = snapshot.value
            let response = ReadsResponse(records: found.records, missing: found.missing, next: found.next, cursor: snapshot.cursor)
            call.respond(Response(json: response.json, at: snapshot.cursor).stating(snapshot.lastWrite))
        }
    }

    /// `POST /v1/{ns}/writes`
    @Sendable func write(_ call: Call) throws {
        try call.requireJSON()
        let namespace = try call.namespace()
        let start = environment.monotonicNanoseconds()
        try committer.checkRoom()
        call.nowOrLater { [self] in
            let batch = try WriteBatch(json: call.request.body, profile: .interoperable)
            let client = batch.client
            committer.submit(
                .batch(batch, in: namespace) { [self] committed in
                    metrics.writeSeconds.record(Double(environment.monotonicNanoseconds() - start) / 1e9)
                    guard let outcomes = try? committed.result.get(), outcomes.contains(where: \.showsOutline) else {
                        return respond(call, to: committed)
                    }
                    call.later(isContinuation: true) { [self] in
                        // The outcomes are decided, so they are sent even if the records cannot be read.
                        let complete = reading {
                            try RejectionRecords.read(committed, of: client, in: namespace, from: store)
                        }
                        respond(call, to: complete ?? committed)
                    }
                })
        }
    }

    private func respond(_ call: Call, to committed: Committed<[WriteOutcome]>) {
        switch (committed.result, committed.cursor) {
        case (.success(let outcomes), let cursor?):
            let results = WriteResults(results: outcomes, cursor: cursor)
            call.respond(Response(json: results.json, at: cursor).stating(committed.lastWrite))
        case (.success, nil): call.fail(Problem(.storageFailed, "The writes are on disk, but the store did not say where it stands"))
        case (.failure(let problem), let cursor): call.fail(problem, at: cursor)
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
    @Sendable func invalidate(_ call: Call) throws {
        try call.requireJSON()
        let namespace = try call.namespace()
        call.nowOrLater { [self] in
            let scopes = try InvalidationRequest(json: call.request.body, profile: .interoperable).scopes
            committer.submit(
                .invalidate(scopes, in: namespace) { committed in
                    switch committed.result {
                    case .success(let revision):
                        var writer = JSONWriter(capacity: 32)
                        writer.beginObject()
                        writer.member("revision", revision.number)
                        writer.endObject()
                        call.respond(json: writer.bytes, at: committed.cursor)
                    case .failure(let problem): call.fail(problem, at: committed.cursor)
                    }
                })
        }
    }

    /// `GET /v1/{ns}/clients/{client}`
    @Sendable func getClient(_ call: Call) throws {
        let namespace = try call.namespace()
        let client = try ClientIdentifier(call.request.parameter("client"))
        let snapshot = try store.lastWrite(of: client, in: namespace)
        call.respond(json: ClientStatus(client: client, last: snapshot.value).json, at: snapshot.cursor)
    }
}
