package import FreshetTransport
package import FreshetWire
internal import HTTPTypes

/// Decodes the outcome of a request. Every outcome gives a reply: nothing here fails or traps. Pure.
///
/// Only the server decides about a request: by its problem document, or by a success that has its fields and media
/// type. All other answers, as of a proxy, a login page or a firewall, are ``TransportFailure/intercepted(_:)``, as if the
/// server had not been reached.
package enum ReplyDecoder {
    package static func decode(
        _ outcome: Result<HTTPReply, TransportError>, for kind: RequestDescription.Kind
    ) -> (reply: Reply, lastWrite: Int64?, store: StoreIdentifier?, age: Int64) {
        switch outcome {
        case .failure(let error): return (error.reply, nil, nil, 0)
        case .success(let reply):
            let store = reply.fields[.freshetStore].flatMap { StoreIdentifier($0) }
            let age = Self.age(of: reply)
            do {
                let decoded = try decode(reply, for: kind)
                let describesRecords =
                    switch decoded {
                    case .problem, .failure: false
                    default: true
                    }
                return (decoded, try lastWrite(in: reply, isRequired: kind.statesLastWrite && describesRecords), store, age)
            } catch {
                return (.garbage("the answer with status \(reply.status) is not what the protocol says: \(error)"), nil, store, age)
            }
        }
    }

    /// The largest age, in seconds: it stands for all larger ones (RFC 9111 §1.2.2).
    private static let oldest: Int64 = 1 << 31

    /// Returns for how many milliseconds at most a cache had kept the response (RFC 9111 §5.1). `Age` counts whole seconds, and
    /// some caches do not send it: theirs may have kept the response for as long as it allows.
    ///
    /// Of several values the largest counts. RFC 9111 lets a cache take the first, and ignore one that is no number. A device
    /// that did so would call an old value live (rule 9).
    private static func age(of reply: HTTPReply) -> Int64 {
        let stated = reply.fields[values: .age].flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        if let seconds = stated.map({ ageSeconds($0) }).max() { return (seconds + 1) * 1_000 }
        let isCacheable = reply.fields[.cacheControl]?.lowercased().contains("max-age") ?? false
        return isCacheable ? 1_000 : 0
    }

    /// Returns the seconds of one member of `Age`: ``oldest`` if it is larger, or not digits alone.
    private static func ageSeconds(_ member: Substring) -> Int64 {
        let words = member.split { $0 == " " || $0 == "\t" }
        guard words.count == 1, words[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return oldest }
        return min(Int64(words[0]) ?? oldest, oldest)
    }

    /// Returns the number of `Freshet-Last-Write`. A response that describes records, or reports that there are none,
    /// must have it if the request asked for it: otherwise the machine would repeat the request at once, without end.
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
        if reply.status >= 400 { return try refusal(reply, for: kind) }
        guard let cursor = try cursor(of: reply) else {
            return .failure(.intercepted(intercepted(reply, "it has no field Freshet-Cursor")))
        }
        if let fault = fault(of: reply, isJSON: kind.isAnsweredInJSON && reply.status == 200) {
            return .failure(.intercepted(intercepted(reply, fault)))
        }
        switch (kind, reply.status) {
        case (.changes, 200): return .page(try ChangePage(json: reply.body))
        case (.changes, 204): return .noChange(cursor)
        case (.writes, 200): return .results(try WriteResults(json: reply.body))
        case (.reads, 200): return .reads(try ReadsResponse(json: reply.body))
        // Any part of a value would be taken for the whole. Cut JSON of the other kinds cannot be read.
        case (.record, 200) where !reply.statesEnd:
            return .failure(
                .interrupted("the response states no length, so it may be cut: a proxy in between has removed the length"))
        case (.record(let key, _, _), 200): return .record(try record(key, reply), cursor)
        case (.record, 304): return .notModified(cursor)
        case (.list, 200): return .list(try RecordList(json: reply.body))
        case (.clientStatus, 200): return .client(try ClientStatus(json: reply.body), cursor)
        default: return .failure(.intercepted(intercepted(reply, "the status answers no request of this kind")))
        }
    }

    /// Returns why a success is not the server's; `nil` if it may be.
    private static func fault(of reply: HTTPReply, isJSON: Bool) -> String? {
        // None was requested, so the bytes would be taken for the value.
        if let coding = reply.fields[.contentEncoding], coding.lowercased() != "identity" {
            return "its content is encoded (\(coding.shortened)), which was not asked for"
        }
        guard isJSON, !Content.isJSON(reply.fields[.contentType] ?? "") else { return nil }
        return "its media type is \(mediaType(of: reply)), not \(Content.json)"
    }

    private static func mediaType(of reply: HTTPReply) -> String { reply.fields[.contentType]?.shortened ?? "none" }

    // MARK: Errors

    private static func refusal(_ reply: HTTPReply, for kind: RequestDescription.Kind) throws(WireError) -> Reply {
        switch problem(in: reply) {
        case .success(let problem):
            let cursor = try cursor(of: reply)
            if case .record = kind, problem.code == .notFound, let cursor { return .missing(cursor) }
            return .problem(problem, cursor: cursor, retryAfter: retryAfter(reply))
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Returns the problem of an error response, if the server is its author.
    ///
    /// Every `401` is about the token, since a proxy that checks tokens may stand in front of the server. It decides about
    /// no request.
    static func problem(in reply: HTTPReply) -> Result<Problem, TransportFailure> {
        guard let type = reply.fields[.contentType], type.lowercased().hasPrefix(Problem.contentType) else {
            return notOurs(reply, "its media type is \(mediaType(of: reply)), not \(Problem.contentType)")
        }
        guard let problem = try? Problem.own(json: reply.body) else {
            return notOurs(reply, "its problem document is not Freshet's")
        }
        guard problem.status == reply.status else {
            return notOurs(reply, "its problem document was made for status \(problem.status)")
        }
        return .success(problem)
    }

    private static func notOurs(_ reply: HTTPReply, _ fault: String) -> Result<Problem, TransportFailure> {
        guard reply.status != 401 else {
            return .success(
                Problem(.unauthorized, "status 401 without a problem document of Freshet's: a proxy in front refuses the token"))
        }
        return .failure(.intercepted(intercepted(reply, fault)))
    }

    /// Describes a response that is not the server's.
    static func intercepted(_ reply: HTTPReply, _ fault: String) -> InterceptedResponse {
        let place = (300..<400).contains(reply.status) ? reply.fields[.location].map { "it leads to \($0.shortened)" } : nil
        let way = reply.proxy.map { "; it came through \($0)" } ?? ""
        return InterceptedResponse(status: reply.status, retryAfter: retryAfter(reply), (place ?? fault) + way)
    }

    // MARK: Fields

    private static func cursor(of reply: HTTPReply) throws(WireError) -> Cursor? {
        guard let text = reply.fields[.freshetCursor] else { return nil }
        return try Cursor(text)
    }

    private static func record(_ key: RecordKey, _ reply: HTTPReply) throws(WireError) -> Record {
        guard let tag = reply.fields[.eTag].flatMap(Cursor.init(entityTag:)) else {
            throw .unexpectedJSON("it lacks an ETag of the form \"<epoch>-<revision>\"")
        }
        let type = reply.fields[.contentType] ?? "application/octet-stream"
        // The bound of media types in a page of the feed: the type is stored with the value.
        guard Content.isFieldValue(type) else {
            throw .unexpectedJSON("its Content-Type is '\(type.shortened)': it takes 1 to 255 characters of visible ASCII")
        }
        let content = Content.isJSON(type) ? try Content(json: reply.body, profile: .json) : Content(bytes: reply.body, type: type)
        let modified = Timestamp(milliseconds: 0)
        return Record(key: key, revision: tag.revision, content: content, modified: modified)
    }

    /// Milliseconds; accepts only the form in seconds, which our server uses.
    private static func retryAfter(_ reply: HTTPReply) -> Int64? {
        guard let text = reply.fields[.retryAfter], let seconds = Int64(text), (0...86_400).contains(seconds) else { return nil }
        return seconds * 1_000
    }
}

extension RequestDescription.Kind {
    /// Whether the content of a `200` is JSON.
    fileprivate var isAnsweredInJSON: Bool { if case .record = self { false } else { true } }

    /// Whether the response has to state the device's last decided write.
    fileprivate var statesLastWrite: Bool {
        switch self {
        case .changes(_, _, _, _, let client), .record(_, _, let client): client != nil
        case .reads(let request): request.client != nil
        case .writes: true
        case .list, .clientStatus: false
        }
    }
}

extension TransportError {
    /// The machine's reply for a request that got no response.
    fileprivate var reply: Reply {
        switch self {
        case .couldNotResolve, .couldNotConnect, .tls, .invalidRequest: .failure(.unreachable(description))
        case .untrusted, .wrongKey: .failure(.untrusted(description))
        case .malformedResponse: .garbage(description)
        case .tooLarge: .tooLarge(description)
        case .timedOut, .connectionLost, .aborted, .failed: .failure(.interrupted(description))
        }
    }
}
