import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

/// The preconditions of one request (RFC 9110 §13).
///
/// Those by date (`If-Modified-Since`, `If-Unmodified-Since`) are not evaluated: `Last-Modified` is for people, and two writes
/// within a second would have the same.
struct Conditions: Sendable {
    private let match: EntityTags?
    private let noneMatch: EntityTags?

    /// Whether a write of this request has a precondition.
    static func has(_ request: Request) -> Bool { request.has(.ifMatch) || request.has(.ifNoneMatch) }

    init(_ request: Request) throws(Problem) {
        match = try Self.tags(request, .ifMatch)
        noneMatch = try Self.tags(request, .ifNoneMatch)
    }

    /// Whether `If-Match` excludes the record at this position.
    func isFailed(at position: Cursor) -> Bool { match.map { !$0.matchesStrongly(position.entityTag) } ?? false }

    /// Whether the client has the record at this position already.
    func isNotModified(at position: Cursor) -> Bool { noneMatch.map { $0.matchesWeakly(position.entityTag) } ?? false }

    /// The preconditions of a write. Tags that this server cannot have made match nothing, and neither do weak ones in
    /// `If-Match`.
    var preconditions: [Precondition] {
        var result: [Precondition] = []
        switch match {
        case .any?: result.append(.exists)
        case .tags(let tags)?: result.append(.matches(tags.compactMap { $0.isWeak ? nil : Cursor(entityTag: $0.text) }))
        case nil: break
        }
        switch noneMatch {
        case .any?: result.append(.absent)
        case .tags(let tags)?: result.append(.matchesNone(tags.compactMap { Cursor(entityTag: $0.text) }))
        case nil: break
        }
        return result
    }

    private static func tags(_ request: Request, _ name: HTTPField.Name) throws(Problem) -> EntityTags? {
        guard let text = request[name] else { return nil }
        guard let tags = EntityTags(text) else {
            throw Problem(
                .invalidRequest,
                "\(name.rawName) is '\(text.shortened)': it takes * or entity tags in quotes, for example \"k3v9-1043\", joined with commas"
            )
        }
        return tags
    }
}
