import FreshetTrust
import FreshetWire

/// The problems of requests whose sender is not known.
enum AccessProblem {
    static let missing = Problem(
        .unauthorized, "This server takes requests with a key or a token only: send it as 'Authorization: Bearer …'.")
    static let malformed = Problem(
        .unauthorized, "The field Authorization has no bearer token: send 'Authorization: Bearer …' with one key or token.")
    static let namelessCertificate = Problem(
        .unauthorized,
        "The client's certificate has no name that stands for it: it takes one URI, or else one mail address, or else one DNS name as its "
            + "subjectAltName, of 1 to 128 characters without * and |. Or send a key or token.")
    /// Also the answer to a wait whose session has ended.
    static let revoked = Problem(.unauthorized, "The key, token or certificate was revoked: log in again, or ask the operator.")
    static let changed = Problem(
        .unavailable, "The rights of the request were changed while it was in progress: send it again.")
    static let busy = Problem(.overloaded, "Too many tokens wait to be verified. Send it again after Retry-After.")
    static let unavailable = Problem(
        .unavailable, "The keys of the token's issuer could not be fetched, so the token was not judged. Send it again after Retry-After.")
    static let waits = Problem(
        .tooManyRequests, "Too many requests of this key or token wait for changes at once. Send it again after Retry-After.")
    static let ticket = Problem(
        .unauthorized, "The ticket was used, is over, or is of another namespace: request one for each stream, by POST tickets.")
    static let tickets = Problem(
        .tooManyRequests, "Too many tickets were requested and not used. Send it again after Retry-After; a ticket lasts 30 s.")
    static let ticketWithoutCredential = Problem(
        .unauthorized,
        "A ticket stands for a key or token, and the request has none: send one, or open the stream without a ticket.")
    /// One text for a credential that is malformed, not known, or has a wrong signature.
    private static let unknown = Problem(
        .unauthorized,
        "The server does not know this key or token: check that it is whole, and meant for this server. 'freshet token inspect' shows what it "
            + "states, and why.")

    static func of(_ refusal: SessionRefusal) -> Problem {
        switch refusal {
        case .key(.unknown), .malformedKey: unknown
        case .key(.disabled): Problem(.unauthorized, "The key is disabled: ask the operator, or use another one.")
        case .key(.expired): Problem(.unauthorized, "The key has expired: ask the operator for another one.")
        case .key(.replaced): Problem(.unauthorized, "The key was replaced, and its time of overlap is over: use the new one.")
        case .token(let refusal) where refusal.isSigned:
            Problem(.unauthorized, "\(refusal.description.asSentence) 'freshet token inspect' shows what it states.")
        case .token: unknown
        case .certificate(let refusal): Problem(.unauthorized, refusal.description.asSentence)
        case .expired: Problem(.unauthorized, "The key, token or certificate has expired: request another one.")
        case .revoked: revoked
        }
    }
}

extension String {
    /// The text with a capital letter and a full stop.
    fileprivate var asSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
