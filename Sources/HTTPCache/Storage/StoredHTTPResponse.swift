internal import FreshetPlatform
package import HTTPTypes

/// A stored response, with the data to determine its age and the requests that it matches.
package struct StoredHTTPResponse: Hashable, Sendable {
    package let url: HTTPURL
    package let status: Int
    /// Without the fields of a single connection.
    package private(set) var fields: HTTPFields
    package let body: [UInt8]
    /// When the request was sent whose response created or last confirmed this one, in milliseconds since 1970.
    package private(set) var requestTime: Int64
    /// When that response was received, in milliseconds since 1970.
    package private(set) var responseTime: Int64
    /// The request's fields that `Vary` names.
    package private(set) var selection: VarySelection

    init(
        url: HTTPURL, status: Int, fields: HTTPFields, body: [UInt8], requestTime: Int64, responseTime: Int64, selection: VarySelection
    ) {
        self.url = url
        self.status = status
        self.fields = fields
        self.body = body
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.selection = selection
    }

    /// Creates the stored form of a response that may be stored.
    package init(
        url: HTTPURL, request: HTTPRequest, response: HTTPResponse, body: [UInt8], requestTime: Int64, responseTime: Int64
    ) {
        var fields = response.headerFields.storable
        // A response without a date gets the time of its receipt (RFC 9110 §6.6.1).
        if !fields.contains(.date) { fields[.date] = HTTPDate(seconds: responseTime / 1_000).description }
        self.init(
            url: url, status: response.status.code, fields: fields, body: body, requestTime: requestTime, responseTime: responseTime,
            selection: VarySelection(names: response.headerFields.varyNames ?? [], of: request))
    }

    /// The most fields of a stored response. Each confirmation adds fields, and `HTTPFields` traps at 65,535.
    static let maximumFieldCount = 4_096
    /// The most bytes of the fields' names and values together.
    static let maximumFieldSize = 256 << 10

    /// Whether the response has more fields than may be stored, or larger ones.
    var exceedsFieldLimits: Bool {
        guard fields.count <= Self.maximumFieldCount else { return true }
        var size = 0
        for field in fields { size += field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count } }
        return size > Self.maximumFieldSize
    }

    /// Whether the response matches only requests with the same selecting fields.
    package var isSelected: Bool { !selection.isEmpty }

    /// The response to return, with its age (RFC 9111 §4).
    ///
    /// - Parameter age: in milliseconds.
    package func response(age: Int64) -> HTTPResponse {
        var fields = fields
        fields[.age] = String(age / 1_000)
        return HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    }
}

// MARK: Comparing

extension StoredHTTPResponse {
    /// Whether both are the response of the same request, with the same fields.
    func isCopy(of other: StoredHTTPResponse) -> Bool {
        requestTime == other.requestTime && responseTime == other.responseTime && fields == other.fields
    }

    /// Whether another response was received while the request of this one was in flight, and is newer by the origin's
    /// clock: the most recent one is to be used (RFC 9111 §4).
    func isOvertaken(by other: StoredHTTPResponse?) -> Bool {
        guard let other, requestTime < other.responseTime, other.responseTime <= responseTime,
            let date = fields.date(.date, now: responseTime / 1_000).date,
            let otherDate = other.fields.date(.date, now: other.responseTime / 1_000).date
        else { return false }
        return date.seconds < otherDate.seconds
    }
}

// MARK: Validating

extension StoredHTTPResponse {
    private var entityTag: EntityTag? { fields.bytes(.eTag).flatMap { EntityTag($0) } }

    /// The fields that ask the origin whether this version is still current; empty if there is no validator (RFC 9111
    /// §4.3.1).
    package var conditions: HTTPFields {
        var conditions = HTTPFields()
        if entityTag != nil, let tag = fields.bytes(.eTag) { conditions.append(HTTPField(name: .ifNoneMatch, value: tag)) }
        if fields.date(.lastModified, now: responseTime / 1_000).date != nil { conditions[.ifModifiedSince] = fields[.lastModified] }
        return conditions
    }

    /// The meaning of a `304` for a stored response.
    enum Validation {
        /// The stored response is current, and its fields are updated.
        case updates
        /// The stored response is current, but its fields stay the same: the `304` has a strong entity tag and the
        /// stored response the weak one, so the fields may belong to other bytes (RFC 9111 §4.3.4). Servers that
        /// compress make a tag weak in a `200` and leave it strong in a `304`.
        case confirms
        /// The `304` is about another version.
        case differs
    }

    /// Compares the entity tag of a `304` with the stored one, or without a tag the date of the last modification (RFC
    /// 9111 §4.3.4).
    func validation(by response: HTTPResponse) -> Validation {
        guard let new = response.headerFields.bytes(.eTag).flatMap({ EntityTag($0) }) else {
            guard let modified = response.headerFields[.lastModified], let stored = fields[.lastModified] else { return .updates }
            return modified == stored ? .updates : .differs
        }
        guard let old = entityTag, new.matches(old) else { return .differs }
        return old.isWeak && !new.isWeak ? .confirms : .updates
    }

    /// Whether the response to a `HEAD` is about this version (RFC 9111 §4.3.5).
    func isDescribed(by response: HTTPResponse) -> Bool {
        let new = response.headerFields
        if let tag = new.bytes(.eTag), tag != fields.bytes(.eTag) { return false }
        if let modified = new[.lastModified], modified != fields[.lastModified] { return false }
        if let length = new[.contentLength], length != String(body.count) { return false }
        return true
    }

    /// This response with the fields of a response that confirmed it (RFC 9111 §3.2). Fields of other names stay, so the
    /// result may exceed the limits: see ``exceedsFieldLimits``.
    ///
    /// - Parameter request: the request of the confirming response. Its fields are the selecting ones if a new `Vary`
    ///   names others (§4.1).
    package func freshened(
        by new: HTTPFields, to request: HTTPRequest, requestTime: Int64, responseTime: Int64
    ) -> StoredHTTPResponse {
        var result = self
        let confirmed = new.storable.filter { !HTTPFields.describesContent($0.name) }
        // The lines of a name replace all earlier ones.
        let replaced = Set(confirmed.map(\.name))
        result.fields = result.fields.filter { !replaced.contains($0.name) }
        result.fields.append(contentsOf: confirmed)
        // The stored age and date do not apply to the new response.
        if !new.contains(.age) { result.fields[.age] = nil }
        if !new.contains(.date) { result.fields[.date] = HTTPDate(seconds: responseTime / 1_000).description }
        result.selection = VarySelection(names: result.fields.varyNames ?? [], of: request)
        result.requestTime = requestTime
        result.responseTime = responseTime
        return result
    }
}

extension HTTPFields {
    /// The fields without those of a single connection (RFC 9111 §3.1).
    fileprivate var storable: HTTPFields {
        let listed = Set(names(in: .connection))
        return filter { field in
            let name = field.name.canonicalName
            return !Self.connectionFields.contains(name) && !listed.contains(name)
        }.reduce(into: HTTPFields()) { $0.append($1) }
    }

    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    /// Whether a field describes the bytes of the content, which a confirmation does not contain.
    fileprivate static func describesContent(_ name: HTTPField.Name) -> Bool {
        ["content-length", "content-encoding", "content-range", "content-md5"].contains(name.canonicalName)
    }
}
