import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes
import Synchronization

/// The one-time tickets of a server, by which `EventSource` opens streams: it can send no `Authorization`.
///
/// A ticket stands for the credential that bought it. The stream is then judged as if that had been sent: it ends with the
/// credential, and by its revocation. Safe to use from any thread.
final class Tickets: Sendable {
    private let table = Mutex(TicketTable())
    private let environment: ServerEnvironment

    init(_ environment: ServerEnvironment) { self.environment = environment }

    private var now: Int64 { environment.monotonicNanoseconds() / 1_000_000 }

    /// Issues a ticket for a namespace, with the time at which it ends at the latest, in milliseconds since 1970.
    func issue(to session: AccessSession, in namespace: Namespace) throws(Problem) -> (ticket: Ticket, expires: Int64) {
        guard let credential = session.credential, session.value.principal.certificateName == nil else {
            throw AccessProblem.ticketWithoutCredential
        }
        var random = SystemRandomNumberGenerator()
        let ticket = Ticket(using: &random)
        let result = table.withLock { table in
            Result { () throws(TicketRefusal) in
                try table.issue(ticket, for: credential, of: session.value.principal, in: namespace, at: now)
            }
        }
        if case .failure = result { throw AccessProblem.tickets }
        let end = environment.wallMilliseconds() + TicketTable.lifetime
        return (ticket, min(end, session.value.expires ?? .max))
    }

    /// The credential of a request that presents a ticket in place of one; `nil` for a request without a ticket. Uses the
    /// ticket up.
    func credential(of request: Request) -> Result<Secret, Problem>? {
        guard request.wantsStream, !request.has(.authorization), let ticket = request.query["ticket"] else { return nil }
        guard let namespace = try? Namespace(request.parameter("namespace")),
            let credential = table.withLock({ $0.redeem(Array(ticket.utf8), in: namespace, at: now) })
        else { return .failure(AccessProblem.ticket) }
        return .success(credential)
    }
}

extension Request {
    /// Whether the answer is to be a stream of server-sent events.
    var wantsStream: Bool { contains("text/event-stream", in: .accept) }
}

extension ServerCore {
    /// `POST /v1/{ns}/tickets`
    @Sendable func makeTicket(_ context: RequestContext) throws {
        try context.requireJSON()
        let namespace = try context.namespace()
        guard let session = context.session else {
            throw Problem(.notFound, "This server has no access control, and so no tickets: open the stream without one.")
        }
        var reader = JSONReader(context.request.body, profile: .interoperable)
        try reader.beginObject()
        if let member = try reader.nextMember() {
            throw Problem(.invalidRequest, "A ticket has no member '\(member.text.shortened)': this takes {}.")
        }
        try reader.end()
        let (ticket, expires) = try tickets.issue(to: session, in: namespace)
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ticket", String(decoding: ticket.text.exposed, as: UTF8.self))
        writer.member("expires", Timestamp(milliseconds: expires).description)
        writer.endObject()
        context.respond(Response(json: writer.bytes, at: nil, status: .created))
    }

    /// Who sends a request: the holder of its key or token, or of the one that its ticket stands for.
    func sender(of request: Request, to endpoint: Endpoint, _ access: AccessControl) throws -> AccessControl.Sender {
        guard endpoint == .getChanges, let credential = tickets.credential(of: request) else { return try access.sender(of: request) }
        return try access.sender(of: request, with: credential)
    }
}
