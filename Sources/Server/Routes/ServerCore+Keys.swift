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
        guard access.hasRoom else {
            throw Problem(.tooLarge, "There are \(KeyTable.maximumCount) keys: revoke some that are not used.", status: 409)
        }
        let event = context.event(.keyCreated, about: stored.id, detail: stored.isAdmin ? "\(stored.name), an administrator" : stored.name)
        keep(stored, access, context, event, status: .created, showing: key)
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
        var stored = try storedKey(context, access)
        var reader = JSONReader(context.request.body, profile: .interoperable)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            guard member == "disabled" else {
                throw Problem(.invalidRequest, "'\(member.text.shortened)' cannot be changed: this takes {\"disabled\": true or false}.")
            }
            stored.isDisabled = try reader.boolean()
        }
        try reader.end()
        keep(stored, access, context, context.event(.keyChanged, about: stored.id, detail: stored.isDisabled ? "disabled" : "enabled"))
    }

    /// `POST /admin/keys/{id}/rotate`: replaces the secret. The former one is valid for `overlap` seconds more.
    @Sendable func rotateKey(_ context: RequestContext) throws {
        try context.requireJSON()
        let access = try requireAccess()
        var stored = try storedKey(context, access)
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
        let key = AccessKey(id: stored.id, using: &random)
        stored.rotate(to: key, overlap: overlap * 1_000, at: environment.wallMilliseconds())
        keep(stored, access, context, context.event(.keyRotated, about: stored.id, detail: "overlap \(overlap) s"), showing: key)
    }

    /// `DELETE /admin/keys/{id}`: revokes it. When this answers, no write of the key is applied later, and its waits have
    /// ended.
    @Sendable func revokeKey(_ context: RequestContext) throws {
        let access = try requireAccess()
        let stored = try storedKey(context, access)
        committer.submit(
            .access { [self] committed in
                do {
                    try committed.result.get()
                    access.remove(stored.id)
                    endRevokedWaits()
                    context.respond(
                        Response(json: Array(#"{"revoked":true}"#.utf8), at: nil), logging: [context.event(.keyRevoked, about: stored.id)],
                        endsSession: true)
                } catch { context.fail(error) }
            } _: { transaction in
                try transaction.remove(.key, named: stored.id.text)
                try transaction.remove(.use, named: stored.id.text)
            })
    }

    /// Stores the days on which keys were used last, if some have changed. One that cannot be stored is lost.
    func storeUses() {
        guard let rows = access?.takeUnstoredUses(), !rows.isEmpty else { return }
        committer.submit(
            .access { _ in
            } _: { transaction in
                for row in rows { try transaction.keep(row) }
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
        guard let id = KeyIdentifier(context.request.parameter("id")), let stored = access.key(id) else {
            throw Problem(.notFound, "There is no key of this id: 'freshet key list' shows all.")
        }
        return stored
    }

    /// Stores a key, notes the event, and answers with the key.
    private func keep(
        _ stored: StoredKey, _ access: AccessControl, _ context: RequestContext, _ event: AuditRecord, status: HTTPResponse.Status = .ok,
        showing key: AccessKey? = nil
    ) {
        committer.submit(
            .access { [self] committed in
                do { try committed.result.get() } catch { return context.fail(error) }
                access.set(stored)
                endRevokedWaits()
                var writer = JSONWriter()
                writer.beginObject()
                if let key { writer.member("key", String(decoding: key.token.exposed, as: UTF8.self)) }
                writer.member("stored")
                stored.write(to: &writer)
                writer.endObject()
                // An administrator who rotates the key of the request must get the new secret.
                context.respond(Response(json: writer.bytes, at: nil, status: status), logging: [event], endsSession: true)
            } _: { transaction in
                try transaction.keep(stored.row)
            })
    }

    /// Answers the waiting requests of sessions that have ended.
    func endRevokedWaits() {
        feeds.end(where: { hasEnded($0.session) })
    }
}
