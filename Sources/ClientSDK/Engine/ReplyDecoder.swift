internal import FreshetWire
internal import HTTPTypes

/// Reads what came back for a request. Whatever came, it is a reply: nothing here fails or traps. Pure.
enum ReplyDecoder {
    static func decode(
        _ outcome: Result<HTTPReply, TransportError>, for kind: RequestDescription.Kind
    ) -> (reply: Reply, lastWrite: Int64?) {
        switch outcome {
        case .failure(let error): return (error.reply, nil)
        case .success(let reply):
            do {
                let decoded = try decode(reply, for: kind)
                let isProblem = if case .problem = decoded { true } else { false }
                return (decoded, try lastWrite(in: reply, isRequired: kind.statesLastWrite && !isProblem))
            } catch {
                return (.garbage("the answer with status \(reply.status) is not what the protocol says: \(error)"), nil)
            }
        }
    }

    /// What `Freshet-Last-Write` says. A response that describes records, or says that there is none, must have it where it was asked for:
    /// the machine would ask again at once, for ever.
    private static func lastWrite(in reply: HTTPReply, isRequired: Bool) throws(WireError) -> Int64? {
        guard let text = reply.fields[.freshetLastWrite] else {
            if isRequired { throw .unexpectedJSON("it lacks the field Freshet-Last-Write, which the request asked for") }
            return nil
        }
        guard let number = Int64(text), (0...Revision.maximum.number).contains(number) else {
            throw .unexpectedJSON("its field Freshet-Last-Write is no number of a write")
        }
        return number
    }

    private static func decode(_ reply: HTTPReply, for kind: RequestDescription.Kind) throws(WireError) -> Reply {
        let cursor = try cursor(of: reply)
        switch (kind, reply.status) {
        case (.changes, 200): return .page(try ChangePage(json: reply.body))
        case (.changes, 204): return .quiet(try required(cursor))
        case (.writes, 200): return .results(try WriteResults(json: reply.body))
        case (.reads, 200): return .reads(try ReadsResponse(json: reply.body))
        case (.record(let key, _, _), 200): return .record(try record(key, reply), try required(cursor))
        case (.record, 304): return .notModified(try required(cursor))
        case (.record, 404) where cursor != nil: return .missing(try required(cursor))
        case (.clientStatus, 200): return .client(try ClientStatus(json: reply.body), try required(cursor))
        case (_, 400...599): return .problem(problem(reply), cursor: cursor, retryAfter: retryAfter(reply))
        default: return .garbage("status \(reply.status) answers no request of this kind: check the URL and what stands between")
        }
    }

    /// The problem that an error's body holds, or else one made of its status.
    static func problem(_ reply: HTTPReply) -> Problem {
        if let type = reply.fields[.contentType], type.lowercased().hasPrefix(Problem.contentType),
            var problem = try? Problem(json: reply.body)
        {
            // What was on the wire counts, whatever the document says of itself.
            problem.status = reply.status
            return problem
        }
        let code: ProblemCode =
            switch reply.status {
            case 401: .unauthorized
            case 403: .forbidden
            case 404: .notFound
            case 413: .tooLarge
            case 429, 502...504: .overloaded
            default: ProblemCode(text: "http-\(reply.status)", status: reply.status)
            }
        return Problem(
            code, "status \(reply.status) without a problem document, so perhaps not from a Freshet server", status: reply.status)
    }

    private static func cursor(of reply: HTTPReply) throws(WireError) -> Cursor? {
        guard let text = reply.fields[.freshetCursor] else { return nil }
        return try Cursor(text)
    }

    private static func required(_ cursor: Cursor?) throws(WireError) -> Cursor {
        guard let cursor else { throw .unexpectedJSON("it lacks the field Freshet-Cursor") }
        return cursor
    }

    private static func record(_ key: RecordKey, _ reply: HTTPReply) throws(WireError) -> Record {
        guard let tag = reply.fields[.eTag].flatMap(Cursor.init(entityTag:)) else {
            throw .unexpectedJSON("it lacks an ETag of the form \"<epoch>-<revision>\"")
        }
        let type = reply.fields[.contentType] ?? "application/octet-stream"
        let content = Content.isJSON(type) ? try Content(json: reply.body, profile: .json) : Content(bytes: reply.body, type: type)
        let modified = Timestamp(milliseconds: 0)
        return Record(key: key, revision: tag.revision, content: content, modified: modified)
    }

    /// Milliseconds; only the form in seconds, which our server uses.
    private static func retryAfter(_ reply: HTTPReply) -> Int64? {
        guard let text = reply.fields[.retryAfter], let seconds = Int64(text), (0...86_400).contains(seconds) else { return nil }
        return seconds * 1_000
    }
}

extension RequestDescription.Kind {
    /// Whether the response has to state the device's last decided write.
    fileprivate var statesLastWrite: Bool {
        switch self {
        case .changes(_, _, _, _, let client), .record(_, _, let client): client != nil
        case .reads(let request): request.client != nil
        case .writes: true
        case .clientStatus: false
        }
    }
}

extension TransportError {
    /// What a request that got no response is to the machine.
    fileprivate var reply: Reply {
        switch self {
        case .couldNotResolve, .couldNotConnect, .tls, .invalidRequest: .failure(.unreachable(description))
        case .malformedResponse: .garbage(description)
        case .tooLarge: .tooLarge(description)
        case .timedOut, .connectionLost, .aborted, .failed: .failure(.interrupted(description))
        }
    }
}
