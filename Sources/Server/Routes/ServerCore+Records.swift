import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes

extension ServerCore {
    /// `GET|HEAD /v1/{ns}/records/{collection}/{id}`
    @Sendable func getRecord(_ context: RequestContext) throws {
        let (namespace, key) = (try context.namespace(), try context.key())
        let conditions = try Conditions(context.request)
        let client = try Parameters(context.request).client()
        // No closure, which would be allocated for each read.
        @Sendable func read() throws {
            let snapshot = try store.record(key, in: namespace, for: client, valueBytes: ReadBounds.lookupValueBytes)
            try context.requireNumber(of: client)
            answer(context, namespace, key, conditions, snapshot)
        }
        guard !store.answersAtOnce else { return try read() }
        // Whether the number may be stated is a second read.
        guard client == nil || context.session == nil else { return context.later { try read() } }
        let lookup = RecordLookup(key, in: namespace, for: client, valueBytes: ReadBounds.lookupValueBytes)
        let isAccepted = lookups.submit(lookup) { [self] result in
            switch result {
            case .success(let snapshot): answer(context, namespace, key, conditions, snapshot)
            case .failure(let error): context.fail(error)
            }
        }
        if !isAccepted { throw refusedRead() }
    }

    /// Answers with a record as it was found. A value that is needed, and was too long to be read with it, is read on the read
    /// queue.
    private func answer(
        _ context: RequestContext, _ namespace: Namespace, _ key: RecordKey, _ conditions: Conditions, _ snapshot: Snapshot<Record?>
    ) {
        guard let record = snapshot.value else {
            let problem = Problem(.notFound, "There is no record \(key.description.shortened) in \(namespace)")
            return context.respond(context.response(to: problem, at: snapshot.cursor).stating(snapshot.lastWrite))
        }
        let position = Cursor(epoch: snapshot.state.epoch, revision: record.revision)
        guard !conditions.isFailed(at: position) else {
            let problem = Problem(
                .preconditionFailed, "The record \(key.description.shortened) is at \(position.entityTag), which If-Match does not name")
            return context.fail(problem, at: snapshot.cursor)
        }
        let isNotModified = conditions.isNotModified(at: position)
        guard isNotModified || record.content != nil else {
            return context.later { [self] in
                let client = try Parameters(context.request).client()
                let snapshot = try store.record(key, in: namespace, for: client, valueBytes: .max)
                try context.requireNumber(of: client)
                answer(context, namespace, key, conditions, snapshot)
            }
        }
        var fields = isNotModified ? Self.unchanged : Self.content
        // Reserves room for all lines that follow, so that they are copied once.
        fields.reserve(256)
        fields.append(.eTag, position.entityTag)
        fields.append(.lastModified, record.modified.httpDate)
        fields.append(.freshetCursor, context.issued(snapshot.cursor).description)
        guard !isNotModified else {
            return context.respond(Response(status: .notModified, fields: fields).stating(snapshot.lastWrite))
        }
        fields.append(.contentType, record.contentType)
        context.respond(Response(status: .ok, fields: consume fields, body: record.content?.bytes ?? []).stating(snapshot.lastWrite))
    }

    /// A user's own cache may keep the value but must revalidate it, since the cache cannot know of changes. A shared
    /// cache may not keep it.
    private static let unchanged: ResponseFields = [.cacheControl: "private, no-cache", .xContentTypeOptions: "nosniff"]
    /// A value that one user stored must not run as a page in another's browser, whatever its type says.
    private static let content: ResponseFields = [
        .cacheControl: "private, no-cache", .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "sandbox; default-src 'none'",
    ]

    /// `PUT …/{id}`
    @Sendable func putRecord(_ context: RequestContext) throws {
        let type = context.request[.contentType] ?? "application/octet-stream"
        guard Content.isFieldValue(type) else {
            throw Problem(.invalidRequest, "Content-Type is '\(type.shortened)': it takes 1 to 255 characters of visible ASCII")
        }
        if let coding = context.request[.contentEncoding], coding.lowercased() != "identity" {
            throw Problem(
                .unsupportedMediaType, "Content-Encoding is '\(coding.shortened)': values are stored as they are, so send it without coding"
            )
        }
        guard !context.request.has(.contentRange) else {
            throw Problem(.invalidRequest, "Content-Range is not taken with PUT (RFC 9110 §14.5): send the whole value, or a merge patch")
        }
        try writeRecord(context, .put(Content(bytes: context.request.body, type: type)))
    }

    /// `PATCH …/{id}`
    @Sendable func patchRecord(_ context: RequestContext) throws {
        let type = context.request[.contentType] ?? ""
        let media = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard media == Self.mergePatch else {
            let problem = Problem(
                .unsupportedMediaType,
                "Content-Type is '\(type.shortened)': PATCH takes a JSON merge patch (RFC 7396) as \(Self.mergePatch)")
            var response = context.response(to: problem)
            response.fields.append(.acceptPatch, Self.mergePatch)
            return context.respond(response)
        }
        try writeRecord(context, .patch(context.request.body))
    }

    /// `DELETE …/{id}`
    @Sendable func deleteRecord(_ context: RequestContext) throws { try writeRecord(context, .delete) }

    private static let mergePatch = "application/merge-patch+json"

    private func writeRecord(_ context: RequestContext, _ operation: WriteOperation) throws {
        let namespace = try context.namespace()
        let write = SingleWrite(
            key: try context.key(), operation: operation, preconditions: try Conditions(context.request).preconditions,
            author: try Self.author(context.request))
        let start = environment.monotonicNanoseconds()
        // Making the submission checks the value, which takes a while for a long one.
        let access = context.writeAccess(in: namespace)
        context.nowOrLater { [self] in
            committer.submit(
                .single(write, in: namespace, by: access) { [self] committed in
                    metrics.writeSeconds.record(Double(environment.monotonicNanoseconds() - start) / 1e9)
                    switch committed.result {
                    case .success(let receipt):
                        let isCreation = receipt.revision?.number == 1 && creations.take(namespace)
                        context.respond(
                            Self.response(to: write.key, receipt, committed.cursor.map(context.issued)),
                            logging: isCreation ? [context.event(.namespaceCreated)] : [], endsSession: true)
                    case .failure(let problem):
                        refuse(context, access?.shown(problem, of: write.key) ?? problem, at: committed.cursor, in: namespace)
                    }
                })
        }
    }

    /// Answers a rejected write with the value of the record that the problem shows. The value is read here, where no
    /// writer waits for it.
    private func refuse(_ context: RequestContext, _ problem: Problem, at cursor: Cursor?, in namespace: Namespace) {
        guard problem.current != nil else { return context.fail(problem, at: cursor) }
        context.later(isContinuation: true) { [self] in
            let complete = reading { try RejectionRecords.read(problem, at: cursor, in: namespace, from: store) }
            context.fail(complete?.problem ?? problem, at: complete?.cursor ?? cursor)
        }
    }

    private static func response(to key: RecordKey, _ receipt: SingleReceipt, _ cursor: Cursor?) -> Response {
        guard let cursor else {
            return Response(
                Problem(.storageFailed, "The write is on disk, but the store did not say where it stands"), at: nil, retryAfter: 1)
        }
        let body = WriteReceipt(key: key, revision: receipt.revision, cursor: cursor).json
        var response = Response(json: body, at: cursor, status: receipt.created ? .created : .ok)
        if let revision = receipt.revision {
            response.fields.appendEntityTag(Cursor(epoch: cursor.epoch, revision: revision))
        }
        return response
    }

    /// `Freshet-Client` and `Freshet-Write`: both or neither.
    private static func author(_ request: Request) throws -> Change.Author? {
        switch (request[.freshetClient], request[.freshetWrite]) {
        case (nil, nil): return nil
        case (let client?, let number?):
            guard let write = Int64(number), (1...Revision.maximum.number).contains(write),
                number.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else {
                throw Problem(.invalidRequest, "Freshet-Write is '\(number.shortened)': it takes a whole number from 1 to 2^53-1")
            }
            return Change.Author(client: try ClientIdentifier(client), write: write)
        default:
            throw Problem(.invalidRequest, "Freshet-Client and Freshet-Write go together: send both, or neither")
        }
    }
}
