package import FreshetSocketHTTP
package import FreshetWire
package import HTTPTypes

extension HTTPField.Name {
    static let acceptPatch = known("Accept-Patch")
    static let rateLimit = known("RateLimit")
    static let rateLimitPolicy = known("RateLimit-Policy")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let xAccelBuffering = known("X-Accel-Buffering")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is a valid field name") }
        return name
    }
}

extension ServerCore {
    /// The fields of responses that pages of allowed origins may read, besides `Content-Type`, `Last-Modified` and the
    /// others that browsers show to every page.
    static let fieldsForPages: [HTTPField.Name] = [
        .freshetCursor, .freshetLastWrite, .freshetStore, .eTag, .retryAfter, .rateLimit, .rateLimitPolicy, .wwwAuthenticate,
    ]
    /// The fields of requests that such pages may send.
    static let fieldsOfPages: [HTTPField.Name] = [
        .authorization, .contentType, .ifMatch, .ifNoneMatch, .lastEventID, .freshetClient, .freshetWrite,
    ]
}

extension ResponseFields {
    /// Intermediaries do not store responses that must be fresh, and browsers do not guess a type other than the stated
    /// one.
    private static let json: ResponseFields = [
        .contentType: Content.json, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
    ]
    private static let problem: ResponseFields = [
        .contentType: Problem.contentType, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
    ]
    private static let bare: ResponseFields = [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]

    static func json(at cursor: Cursor?) -> ResponseFields { json.with(cursor) }
    static func problem(at cursor: Cursor?) -> ResponseFields { problem.with(cursor) }
    static func bare(at cursor: Cursor?) -> ResponseFields { bare.with(cursor) }

    private static let cursorStart = FieldLineStart(.freshetCursor)
    private static let storeStart = FieldLineStart(.freshetStore)
    private static let entityTagStart = FieldLineStart(.eTag)

    /// The entity tag of a record whose last write has this position.
    mutating func appendEntityTag(_ position: Cursor) {
        if let start = Self.entityTagStart { append(start) { position.appendEntityTag(to: &$0) } }
    }

    /// Appends the field that asks for a credential (RFC 6750 §3).
    ///
    /// - Parameter error: why that of the request does not suffice; `nil` if it had none.
    mutating func appendChallenge(error: String?) {
        append(.wwwAuthenticate, #"Bearer realm="freshet""# + (error.map { #", error="\#($0)""# } ?? ""))
    }

    /// Appends the field that names the store of the response.
    mutating func append(store: StoreIdentifier) {
        if let start = Self.storeStart { append(start) { $0.append(contentsOf: store.token.utf8) } }
    }

    private func with(_ cursor: Cursor?) -> ResponseFields {
        guard let cursor, let start = Self.cursorStart else { return self }
        var fields = self
        fields.reserve(128)
        fields.append(start) { cursor.append(to: &$0) }
        return fields
    }
}

extension Response {
    /// JSON that reflects the position.
    package init(json: [UInt8], at cursor: Cursor?, status: HTTPResponse.Status = .ok) {
        self.init(status: status, fields: .json(at: cursor), body: json)
    }

    /// The response with the number of the client's last decided write in the state that the response reflects;
    /// unchanged if there is no number.
    consuming func stating(_ lastWrite: Int64?) -> Response {
        if let lastWrite { fields.append(.freshetLastWrite, String(lastWrite)) }
        return self
    }

    /// The response with the field that names its store. Consumes the response, since a copy of its fields is an
    /// allocation a request.
    consuming func marked(with store: StoreIdentifier) -> Response {
        fields.append(store: store)
        return self
    }

    /// An error. `retryAfter` is whole seconds.
    package init(_ problem: Problem, at cursor: Cursor?, retryAfter: @autoclosure () -> Int) {
        var fields = ResponseFields.problem(at: cursor)
        if problem.status == 429 || problem.status == 503 { fields.append(.retryAfter, String(retryAfter())) }
        self.init(status: HTTPResponse.Status(code: problem.status), fields: fields, body: problem.json)
    }

    /// The feed's answer to a reader.
    init(_ reply: PollResult) {
        switch reply {
        case .page(let page): self.init(json: page.body, at: page.cursor)
        case .idle(let cursor): self.init(status: .noContent, fields: .bare(at: cursor))
        case .gone(let problem, let cursor): self.init(problem, at: cursor, retryAfter: 1)
        case .ended:
            self.init(AccessProblem.revoked, at: nil, retryAfter: 1)
            fields.appendChallenge(error: "invalid_token")
        }
    }
}
