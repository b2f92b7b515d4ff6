import FreshetSocketHTTP
import FreshetTrust
import FreshetWire

/// The session of a connection's requests.
///
/// Each poll of thousands of connections reads the first two properties and the beginning of the third, which lie beside the
/// object's header: a cache line or two.
final class AccessSession: Sendable {
    /// That of ``AccessControl`` when the credential was checked.
    let generation: UInt64
    /// `nil` if the request had none. The bytes are shared with the table of sessions.
    let credential: Secret?
    let value: Session
    private let permit: WaitCounts.Permit?

    /// That of requests over the admin socket.
    static let `operator` = AccessSession(.operator, nil, generation: 0)

    init(_ session: Session, _ credential: Secret?, generation: UInt64, _ permit: WaitCounts.Permit? = nil) {
        self.permit = permit
        value = session
        self.credential = credential
        self.generation = generation
    }

    /// Whether the request had no credential, and is not an operator's.
    var isAnonymous: Bool { credential == nil && !value.isOperator }

    /// The session that was found; `nil` if the credential has to be verified.
    convenience init?(_ lookup: SessionTable.Lookup, _ credential: Secret, generation: UInt64) throws(Problem) {
        switch lookup {
        case .session(let session): self.init(session, credential, generation: generation)
        case .refused(let refusal): throw AccessProblem.of(refusal)
        case .stale, .unknown: return nil
        }
    }
}

extension AccessControl {
    /// Who sends a request.
    enum Sender {
        case session(AccessSession)
        /// Call ``verify(_:from:then:)``. The client is `nil` if the rates of addresses do not apply to it.
        case unverified(Secret, from: ClientAddress?)
    }
}

/// The field `Authorization` of a request.
enum BearerCredential {
    /// The token of `Bearer <token>` (RFC 6750 §2.1); the scheme in any case (RFC 9110 §11.1).
    static func read(_ field: [UInt8]) -> [UInt8]? {
        let scheme = Array("bearer ".utf8)
        guard field.count > scheme.count, zip(field, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return nil }
        let token = field.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty || token.contains(UInt8(ascii: " ")) || token.contains(UInt8(ascii: ",")) ? nil : Array(token)
    }
}
