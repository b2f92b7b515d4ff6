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

    /// The problem with a write of this record; `nil` if the session may write it.
    package func problem(of key: RecordKey) -> Problem? {
        guard case .needs(let missing) = rights.decide(.write, in: namespace, of: .key(key)) else { return nil }
        return Problem(missing, of: session?.value.value)
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

    /// A problem as the session may learn it: without the record, where the session may not read it.
    package func shown(_ problem: Problem, of key: RecordKey) -> Problem {
        guard problem.current != nil, !mayRead(key) else { return problem }
        var problem = problem
        problem.current = nil
        return problem
    }

    /// A problem that follows from the record, as the session may learn it: its text may state the record's type, size or
    /// numbers. Called before an outcome is kept, since a repeat under another key returns the kept text.
    func concealed(_ problem: Problem, of key: RecordKey) -> Problem {
        // The namespace's revisions have ended, whatever the record is.
        guard problem.code != .storageFailed, !mayRead(key) else { return problem }
        return Problem(
            problem.code, "The write does not apply to the record, which this key or token may not read.", status: problem.status)
    }

    private func mayRead(_ key: RecordKey) -> Bool {
        if case .needs = rights.decide(.read, in: namespace, of: .key(key)) { false } else { true }
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
