import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes

/// The keys of access control, for administrators.
extension ServerCore {
    /// `GET /admin/keys`
    @Sendable func listKeys(_ context: RequestContext) throws {
        let access = try requireAccess()
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("keys")
        writer.beginArray()
        for key in access.keys { key.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        context.respond(json: writer.bytes, at: nil)
    }

    /// `POST /admin/keys`: makes a key. The response is the only message that ever contains the secret.
    @Sendable func makeKey(_ context: RequestContext) throws {
        try context.requireJSON()
        let access = try requireAccess()
        let request = try KeyRequest(json: context.request.body)
        var random = SystemRandomNumberGenerator()
        let (key, stored) = request.key(created: environment.wallMilliseconds(), using: &random)
        let event = context.event(.keyCreated, about: stored.id, detail: stored.isAdmin ? "\(stored.name), an administrator" : stored.name)
        keep(access, context, event, status: .created, showing: key) {
            guard access.hasRoom else {
                return .failure(
                    Problem(.tooLarge, "There are \(KeyTable.maximumCount) keys: revoke some that are not used.", status: 409))
            }
            return .success(stored)
        }
    }

    /// `GET /admin/keys/{id}`
    @Sendable func getKey(_ context: RequestContext) throws {
        var writer = JSONWriter()
        try storedKey(context, try requireAccess()).write(to: &writer)
        context.respond(json: writer.bytes, at: nil)
    }

    /// `PATCH /admin/keys/{id}`: disables or enables it.
    @Sendable func changeKey(_ context: RequestContext) throws {
        try context.requireJSON()
        let access = try requireAccess()
        let id = try storedKey(context, access).id
        var disabled: Bool?
        var reader = JSONReader(context.request.body, profile: .interoperable)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            guard member == "disabled" else {
                throw Problem(.invalidRequest, "'\(member.text.shortened)' cannot be changed: this takes {\"disabled\": true or false}.")
            }
            disabled = try reader.boolean()
        }
        try reader.end()
        let isDisabled = disabled
        let event = context.event(.keyChanged, about: id, detail: isDisabled.map { $0 ? "disabled" : "enabled" } ?? "nothing")
        change(id, access, context, event) { stored in if let isDisabled { stored.isDisabled = isDisabled } }
    }

    /// `POST /admin/keys/{id}/rotate`: replaces the secret. The former one is valid for `overlap` seconds more.
    @Sendable func rotateKey(_ context: RequestContext) throws {
        try context.requireJSON()
        let access = try requireAccess()
        let id = try storedKey(context, access).id
        var overlap: Int64 = 0
        var reader = JSONReader(context.request.body, profile: .interoperable)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            guard member == "overlap" else {
                throw Problem(.invalidRequest, "A rotation has no member '\(member.text.shortened)': it takes {\"overlap\": seconds}.")
            }
            overlap = try reader.integer()
        }
        try reader.end()
        guard (0...31_536_000).contains(overlap) else {
            throw Problem(.invalidRequest, "'overlap' is \(overlap): it takes 0 to 31536000 seconds, a year.")
        }
        var random = SystemRandomNumberGenerator()
        let key = AccessKey(id: id, using: &random)
        let (milliseconds, now) = (overlap * 1_000, environment.wallMilliseconds())
        change(id, access, context, context.event(.keyRotated, about: id, detail: "overlap \(overlap) s"), showing: key) { stored in
            stored.rotate(to: key, overlap: milliseconds, at: now)
        }
    }

    /// `DELETE /admin/keys/{id}`: revokes it. When this answers, no write of the key is applied later, and its waits have
    /// ended.
    @Sendable func revokeKey(_ context: RequestContext) throws {
        let access = try requireAccess()
        let stored = try storedKey(context, access)
        committer.submit(
            .access(unless: context.sessionProblem) { [self] (committed: Committed<Void>) in
                do {
                    try committed.result.get()
                    endRevokedWaits()
                    context.respond(
                        Response(json: Array(#"{"revoked":true}"#.utf8), at: nil), logging: [context.event(.keyRevoked, about: stored.id)],
                        endsSession: true)
                } catch { context.fail(error) }
            } _: { work in
                guard access.key(stored.id) != nil else { return .failure(Self.noKey) }
                try work.remove(.key, named: stored.id.text)
                try work.remove(.use, named: stored.id.text)
                return .success(())
            })
    }

    /// Stores the days on which keys were used last, if some have changed. One that cannot be stored is lost.
    func storeUses() {
        guard let rows = access?.takeUnstoredUses(), !rows.isEmpty else { return }
        committer.submit(
            .access { (_: Committed<Void>) in
            } _: { work in
                for row in rows { try work.keep(row) }
                return .success(())
            })
    }

    // MARK: Parts

    func requireAccess() throws(Problem) -> AccessControl {
        guard let access else {
            throw Problem(.notFound, "This server has no access control, and so no keys: start it with --require-keys.")
        }
        return access
    }

    private func storedKey(_ context: RequestContext, _ access: AccessControl) throws(Problem) -> StoredKey {
        guard let id = KeyIdentifier(context.request.parameter("id")), let stored = access.key(id) else { throw Self.noKey }
        return stored
    }

    private static let noKey = Problem(.notFound, "There is no key of this id: 'freshet key list' shows all.")

    /// Changes a key as it is within the transaction: another server may have changed or revoked it meanwhile.
    private func change(
        _ id: KeyIdentifier, _ access: AccessControl, _ context: RequestContext, _ event: AuditRecord, showing key: AccessKey? = nil,
        _ edit: @escaping @Sendable (inout StoredKey) -> Void
    ) {
        keep(access, context, event, showing: key) {
            guard var stored = access.key(id) else { return .failure(Self.noKey) }
            edit(&stored)
            return .success(stored)
        }
    }

    /// Stores a key, notes the event, and answers with the key.
    ///
    /// - Parameter make: called within the transaction.
    private func keep(
        _ access: AccessControl, _ context: RequestContext, _ event: AuditRecord, status: HTTPResponse.Status = .ok,
        showing key: AccessKey? = nil, _ make: @escaping @Sendable () -> Result<StoredKey, Problem>
    ) {
        committer.submit(
            .access(unless: context.sessionProblem) { [self] committed in
                let stored: StoredKey
                do { stored = try committed.result.get() } catch { return context.fail(error) }
                endRevokedWaits()
                var writer = JSONWriter()
                writer.beginObject()
                if let key { writer.member("key", String(decoding: key.token.exposed, as: UTF8.self)) }
                writer.member("stored")
                stored.write(to: &writer)
                writer.endObject()
                // An administrator who rotates the key of the request must get the new secret.
                context.respond(Response(json: writer.bytes, at: nil, status: status), logging: [event], endsSession: true)
            } _: { work in
                let made = make()
                if case .success(let stored) = made { try work.keep(stored.row) }
                return made
            })
    }

    /// Answers the waiting requests of sessions that have ended.
    func endRevokedWaits() {
        feeds.end(where: { hasEnded($0.session) })
    }
}
