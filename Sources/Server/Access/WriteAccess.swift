package import FreshetTrust
package import FreshetWire

/// What a session may write in a namespace. The committer checks it within the transaction, in one order with
/// revocations.
package struct WriteAccess: Sendable {
    private let rights: Rights
    private let namespace: Namespace
    /// `nil` in a simulation.
    private let session: (value: AccessSession, control: AccessControl)?
    private let end: Problem?
    /// Becomes the owner of the names that the session's numbered writes use first.
    package let owner: ClientOwner

    init(session: AccessSession, namespace: Namespace, control: AccessControl) {
        self.session = (session, control)
        self.namespace = namespace
        (rights, end) = (session.value.rights, nil)
        owner = ClientOwner(session.value)
    }

    /// What a simulated writer may do.
    ///
    /// - Parameter end: the problem of a session that has ended.
    package init(_ rights: Rights, in namespace: Namespace, owner: ClientOwner, end: Problem?) {
        (self.rights, self.namespace, self.owner, self.end, session) = (rights, namespace, owner, end, nil)
    }

    /// The problem with a write of a batch; `nil` if the session may make it.
    func problem(of write: Write, isAtomic: Bool) -> Problem? {
        let dependsOnRecord = isAtomic || write.ifRevision != nil || write.operation.dependsOnRecord
        guard case .needs(let missing) = rights.decideWrite(in: namespace, of: write.key, dependsOnRecord: dependsOnRecord) else {
            return nil
        }
        return Problem(missing, of: session?.value.value, isForWrite: true)
    }

    /// Whether the session may not read the record, so that the outcomes of its writes must be the same whatever the record is.
    func isHidden(_ key: RecordKey) -> Bool {
        if case .needs = rights.decide(.read, in: namespace, of: .key(key)) { true } else { false }
    }

    /// The problem with any write in the transaction; `nil` if the session may continue, and may make the namespace if
    /// there is none.
    func problem(in state: NamespaceState) -> Problem? {
        if let problem = session.map({ $0.control.problem(of: $0.value) }) ?? end { return problem }
        guard state.head == .zero, case .needs(let missing) = rights.decide(.create, in: namespace, of: .everything) else {
            return nil
        }
        return Problem(missing, of: session?.value.value)
    }

    /// The problem with a use of a client's name; `nil` if the name has no owner, or this one, or a key that was revoked:
    /// its device continues under another key. docs/decisions/0053-client-names.md.
    func problem(of client: ClientIdentifier, ownedBy owner: ClientOwner?) -> Problem? {
        guard let owner, owner != self.owner, owner.key.map({ key in session.map { $0.control.key(key) != nil } ?? true }) ?? true else {
            return nil
        }
        return Problem(
            .clientTaken,
            "The client name \(client) belongs to another key or user: the first that used it in \(namespace). Nothing was done, and no number "
                + "was used: choose another client name, or use the key or user to whom it belongs.")
    }

    /// The outcomes of a batch as the session may learn them.
    package func shown(_ outcomes: [WriteOutcome], of batch: WriteBatch) -> [WriteOutcome] {
        zip(outcomes, batch.writes).map { outcome, write in
            guard case .rejected(let problem) = outcome.verdict else { return outcome }
            return WriteOutcome(number: outcome.number, verdict: .rejected(shown(problem, of: write.key)))
        }
    }

    func shown(_ committed: Committed<[WriteOutcome]>, of batch: WriteBatch) -> Committed<[WriteOutcome]> {
        Committed(committed.result.map { shown($0, of: batch) }, committed.cursor, lastWrite: committed.lastWrite)
    }

    /// A problem as the session may learn it: without the record, where the session may not read it. It may have been kept since
    /// the session's principal could.
    package func shown(_ problem: Problem, of key: RecordKey) -> Problem {
        guard problem.current != nil, isHidden(key) else { return problem }
        var problem = problem
        problem.current = nil
        return problem
    }
}

extension WriteOperation {
    /// Whether the record decides if the operation is applied.
    var dependsOnRecord: Bool {
        switch self {
        case .put, .delete: false
        case .patch, .increment: true
        }
    }
}

extension ClientOwner {
    private static let keyPrefix = "key:"

    /// - Parameter session: its principal is stored as it is if it is a key, and otherwise as a digest: subjects are often
    ///   names of people, and may be long.
    init(_ session: Session) {
        let principal = session.principal.text
        self.init(
            text: session.key.map { Self.keyPrefix + $0.text }
                ?? String(decoding: Base64URL.encode(SHA256Digest(of: Array(principal.utf8)).bytes), as: UTF8.self))
    }

    /// The key, if the owner is one.
    var key: KeyIdentifier? { text.hasPrefix(Self.keyPrefix) ? KeyIdentifier(String(text.dropFirst(Self.keyPrefix.count))) : nil }
}
