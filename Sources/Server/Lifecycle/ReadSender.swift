import FreshetSocketHTTP
import FreshetTrust

/// The sender of reads, by which the read queue takes turns.
enum ReadSender: Hashable, Sendable {
    case principal(Principal)
    /// The sender of requests without a credential.
    case connection(ConnectionSender)

    init(_ session: AccessSession?, _ exchange: Exchange) {
        if let session, !session.isAnonymous {
            self = .principal(session.value.principal)
        } else {
            self = .connection(exchange.sender)
        }
    }
}
