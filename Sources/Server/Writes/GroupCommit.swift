package import FreshetTrust
internal import FreshetWire

/// Applies a group of submissions in one transaction. The caller (``Committer``, or a simulator) supplies time and
/// threads.
package struct GroupCommit: Sendable {
    /// The changes of the transaction, for the feed. Publish them first, so that a client whose write is acknowledged
    /// finds the write in the feed.
    package let commits: [NamespaceCommit]
    /// The changes of access rows of the transaction; `nil` if there are none.
    package let access: AccessChanges?
    private let completions: [Submission.Completion]
    /// Those whose namespaces another server's transaction holds.
    private let refused: [Submission]
    /// The submissions for a later transaction, since this one had done enough: the rest of the last that it has performed,
    /// and those that it has not.
    package let rest: [Submission]
    /// Whether the first of ``rest`` is what the transaction has left of a submission.
    package let isFirstBegun: Bool
    /// See ``WriteApplier/touched``.
    package let touched: Int

    /// How many bytes of values one transaction edits and, at half their number, frees, before it ends: some 30 ms of work. Without
    /// this limit, a batch of a thousand edits, or of deletes of large records, could hold up all writers for seconds. Freeing
    /// one value of the largest size exceeds it, also if a short value replaces it, so a transaction frees one such value.
    package static let room = 4 << 20
    /// How many bytes of values a batch that is not atomic stores in one transaction.
    package static let portion = 256 << 10

    /// Commits submissions at once, or none: all, or those up to the one at which ``WriteApplier/touched`` has reached
    /// `room` or the deadline has passed, but at least one, of which a batch may leave a rest.
    ///
    /// If the store fails, no submission has had an effect, each is refused with the problem, and the error is thrown;
    /// after ``StoreError/outcomeUnknown(path:reason:)`` all or none have had theirs. The store may run the submissions
    /// again after it has undone an earlier run: no owner is notified of that one.
    ///
    /// - Parameters:
    ///   - quotas: those of each namespace. A submission that exceeds one is refused alone.
    ///   - access: brought up to date before the submissions are performed, so that they are decided by the rights of this moment.
    ///   - deadline: looked at after each submission, and between the writes of a batch that has read or made long values.
    package static func commit(
        _ submissions: [Submission], to store: any RecordStore, at time: WriteTime, editLimit: Int, quotas: Quotas.Space = Quotas.Space(),
        room: Int = GroupCommit.room, portion: Int = GroupCommit.portion, access: (any AccessCopy)? = nil,
        deadline: TransactionDeadline = .none
    ) throws(StoreError) -> GroupCommit {
        // An atomic batch cannot be continued in the next transaction.
        let wholeRoom = room > Int.max / 2 ? Int.max : 2 * room
        do {
            return try store.transaction(touching: { TransactionScope(of: submissions, valueLimit: editLimit, room: room) }) {
                transaction in
                try access?.follow(transaction)
                var context = Submission.Context(
                    transaction: transaction, time: time, editLimit: editLimit, quotas: quotas, room: room, wholeRoom: wholeRoom,
                    portion: portion, deadline: deadline)
                var completions: [Submission.Completion] = []
                completions.reserveCapacity(submissions.count)
                var (rest, refused): ([Submission], [Submission]) = ([], [])
                var isFirstBegun = false
                let held = transaction.heldElsewhere
                performing: for (index, submission) in submissions.enumerated() {
                    if !held.isEmpty, submission.uses(anyOf: held) {
                        refused.append(submission)
                        continue
                    }
                    switch try submission.perform(&context) {
                    case .whole(let completion):
                        completions.append(completion)
                        guard context.room == 0 || deadline.hasPassed else { continue }
                        rest = Array(submissions[(index + 1)...])
                    case .part(let left):
                        rest = [left] + submissions[(index + 1)...]
                        isFirstBegun = true
                    }
                    break performing
                }
                return GroupCommit(
                    commits: context.log.commits, access: try context.access.changes(after: transaction.accessVersion()),
                    completions: completions, refused: refused, rest: rest, isFirstBegun: isFirstBegun, touched: context.touched)
            }
        } catch {
            let failure = error as? StoreError ?? .failed(path: "", reason: String(describing: error))
            for submission in submissions { submission.refuse(failure.problem) }
            throw failure
        }
    }

    private static let held = Problem(
        .overloaded, "Another server has held the namespace for too long, so nothing was done. Send it again after Retry-After.")

    /// Calls the completions, in the order of their submissions.
    package func complete() {
        for completion in completions { completion.notify() }
        for submission in refused { submission.refuse(Self.held) }
    }
}
