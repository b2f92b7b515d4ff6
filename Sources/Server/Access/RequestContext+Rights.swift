import FreshetSocketHTTP
package import FreshetTrust
package import FreshetWire

extension IncomingRequest {
    /// What the request may do; everything on a server without access control.
    var rights: Rights { session?.value.rights ?? .all }

    /// Decides the request by its address, before anything of the namespace is read. A request for many records needs a
    /// right in the namespace here; its handler decides each record.
    func authorize() throws {
        guard session != nil else { return }
        switch endpoint {
        case .getHealth, .getOpenAPI, .getServer, .getRights: break
        case .getRecord: try require(.read, of: .key(try key()))
        case .putRecord, .deleteRecord: try requireWrite(dependsOnRecord: Conditions.has(request))
        case .patchRecord: try requireWrite(dependsOnRecord: true)
        case .listRecords:
            let prefix = try Parameters(request).prefix()
            try require(.read, of: .collection(request.parameter("collection"), prefix: prefix))
        case .read, .getChanges, .checkAccess, .makeTicket: try requireAny(.read)
        case .write: try requireAny(.write)
        case .invalidate: try requireAny(.invalidate)
        case .getClient:
            // A writer may ask for a client's number.
            if !rights.reaches(try namespace(), with: .write) { try require(.inspect, of: .everything) }
        case .getNamespace: try require(.inspect, of: .everything)
        case .deleteNamespace: try require(.drop, of: .everything)
        case .getReadiness, .getMetrics, .listKeys, .makeKey, .getKey, .changeKey, .rotateKey, .revokeKey, .listRevocations,
            .makeRevocation, .listDenials, .reload:
            try requireAdministrator()
        }
    }

    /// Whether the request may do this to the whole namespace.
    func may(_ verb: Verb, in namespace: Namespace) -> Bool {
        if case .needs = rights.decide(verb, in: namespace, of: .everything) { false } else { true }
    }

    /// - Throws: `forbidden`, with the right that the request lacks.
    func require(_ verb: Verb, of range: KeyRange) throws {
        if case .needs(let missing) = rights.decide(verb, in: try namespace(), of: range) { throw Problem(missing, of: session?.value) }
    }

    private func requireWrite(dependsOnRecord: Bool) throws {
        guard case .needs(let missing) = rights.decideWrite(in: try namespace(), of: try key(), dependsOnRecord: dependsOnRecord) else {
            return
        }
        throw Problem(missing, of: session?.value, isForWrite: true)
    }

    /// Decides whether the request may learn the last number of a client that it names; the only function that does. Call it
    /// after the number was read: the client's name may have got an owner meanwhile. May block on the store.
    ///
    /// - Throws: `client-taken` if the name belongs to another principal, unless this one may `inspect` the namespace.
    func requireNumber(of client: ClientIdentifier?) throws {
        let namespace = try namespace()
        guard let client, let access = writeAccess(in: namespace), !may(.inspect, in: namespace) else { return }
        if let problem = access.problem(of: client, ownedBy: try core.store.owner(of: client, in: namespace)) { throw problem }
    }

    /// Requires the verb on at least one record of the namespace.
    private func requireAny(_ verb: Verb) throws {
        let namespace = try namespace()
        guard rights.reaches(namespace, with: verb) else {
            throw Problem(MissingRight(may: verb, namespace: namespace, range: .everything), of: session?.value)
        }
    }

    private func requireAdministrator() throws(Problem) {
        guard session?.value.isAdmin == true else {
            throw Problem(.forbidden, "Only a key of an administrator may read this: make one with 'freshet key create --admin'.")
        }
    }

    /// What the request may write in the namespace; `nil` where it may write everything.
    func writeAccess(in namespace: Namespace) -> WriteAccess? {
        guard let session, let access = core.access else { return nil }
        return WriteAccess(session: session, namespace: namespace, control: access)
    }
}

extension Problem {
    /// The refusal of an operation, with the way to the rights of its sender.
    /// - Parameters:
    ///   - session: that of the sender; `nil` in a simulation.
    ///   - isForWrite: whether the operation is a write, which may need `read`.
    package init(_ missing: MissingRight, of session: Session? = nil, isForWrite: Bool = false) {
        let reason =
            isForWrite && missing.may == .read
            ? ", which patches, increments, preconditions and atomic batches need, since their outcomes show what the record is" : ""
        let operation = "\(missing.may.rawValue) \(missing.of.shortened)\(reason)"
        let rights = "'freshet status' and GET /v1/\(missing.namespace)/rights"
        let detail =
            if session?.principal == .anonymous {
                "Requests without a key may not \(operation): send one, by --token-file."
            } else if session?.key != nil {
                "This key may not \(operation): ask the operator for that right; \(rights) show its rights."
            } else if session?.principal.certificateName != nil {
                "This certificate may not \(operation): ask the operator for that right; \(rights) show its rights."
            } else {
                "This \(session == nil ? "key or token" : "token") may not \(operation): ask the operator for that right; "
                    + "\(rights) show its rights, and 'freshet token inspect' why a token has them."
            }
        self.init(.forbidden, detail)
        needs = Need(may: missing.may.rawValue, of: missing.of)
    }
}
