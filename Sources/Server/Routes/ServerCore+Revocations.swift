import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes

/// The revocations of tokens, for administrators.
extension ServerCore {
    /// How many revocations a list shows.
    private static let listed = 1_000

    /// `GET /admin/revocations`: the newest.
    @Sendable func listRevocations(_ context: RequestContext) throws {
        let revocations = try requireAccess().revocations
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("revocations")
        writer.beginArray()
        for revocation in revocations.prefix(Self.listed) { revocation.write(to: &writer) }
        writer.endArray()
        writer.member("count", Int64(revocations.count))
        writer.endObject()
        context.respond(json: writer.bytes, at: nil)
    }

    /// `POST /admin/revocations`. When this answers, no write of a revoked token is applied later, and its waits have ended,
    /// except for a margin.
    @Sendable func makeRevocation(_ context: RequestContext) throws {
        try context.requireJSON()
        let access = try requireAccess()
        let request = try RevocationRequest(
            json: context.request.body, issuers: access.issuers, now: environment.wallMilliseconds())
        do throws(RevocationError) {
            try revoke(request.revocation, access, unless: context.sessionProblem) { result in
                do { try result.get() } catch { return context.fail(error) }
                var writer = JSONWriter()
                (access.revocation(of: request.revocation.target) ?? request.revocation).write(to: &writer)
                let event = context.event(.tokensRevoked, detail: request.revocation.auditText)
                context.respond(Response(json: writer.bytes, at: nil, status: .created), logging: [event], endsSession: true)
            }
        } catch { throw Problem(.tooLarge, "\(error.description).", status: 409) }
    }

    /// Revokes at once, and calls the completion when the revocation is stored and the waits have ended.
    ///
    /// The row is made within the transaction, so the last one to be stored has all that was added to its target. If the store
    /// fails, the revocation lasts until the server stops.
    func revoke(
        _ revocation: Revocation, _ access: AccessControl, unless problem: @escaping @Sendable () -> Problem? = { nil },
        then completion: @escaping @Sendable (Result<Void, Problem>) -> Void
    ) throws(RevocationError) {
        try access.revoke(revocation)
        committer.submit(
            .access(unless: problem) { [self] committed in
                endRevokedWaits()
                completion(committed.result)
            } _: { work in
                if let row = access.revocation(of: revocation.target)?.accessRow { try work.keep(row) }
                return .success(())
            })
    }

    /// Removes the revocations whose tokens have all expired.
    func removeExpiredRevocations() {
        guard let access else { return }
        let ended = access.removeExpiredRevocations(at: clock.now)
        guard !ended.isEmpty else { return }
        committer.submit(
            .access { (_: Committed<Void>) in
            } _: { work in
                for revocation in ended {
                    // It is there again if it was taken from the store meanwhile; a later one of the same target stays.
                    guard access.revocation(of: revocation.target).map({ $0 == revocation }) ?? true else { continue }
                    try work.remove(.revocation, named: revocation.accessRow.name)
                }
                return .success(())
            })
    }
}
