package import FreshetWire

/// Applies a group of submissions in one transaction. The shell around it (``Committer``, or a simulator) supplies time and threads.
package struct GroupCommit: Sendable {
    /// What the transaction did, for the feed. Publish it first, so that whoever is told of a write finds it in the feed.
    package let commits: [NamespaceCommit]
    private let completions: [Submission.Completion]
    /// What was not done since the transaction had done enough: it is for a later one.
    package let rest: ArraySlice<Submission>
    /// See ``WriteApplier/touched``; at most `room`.
    package let touched: Int

    /// How many bytes of values one transaction edits and, at half their number, frees: some 60 ms of work. A batch of a thousand edits, or of
    /// deletes of large records, could otherwise hold up all writers for seconds.
    package static let room = 8 << 20

    /// Commits the submissions at once, or none: all, or those before ``WriteApplier/touched`` has reached `room` or `isOver` has returned true,
    /// but at least one.
    ///
    /// If the store fails, no submission has had an effect, each is told why, and the error is thrown.
    ///
    /// - Parameter isOver: whether the transaction has taken its time; called after each submission.
    package static func commit(
        _ submissions: [Submission], to store: any RecordStore, at time: Timestamp, editLimit: Int, room: Int = GroupCommit.room,
        isOver: @Sendable () -> Bool = { false }
    ) throws(StoreError) -> GroupCommit {
        store.prepare { submissions.flatMap(\.records) }
        do {
            return try store.transaction { transaction in
                var context = Submission.Context(transaction: transaction, time: time, editLimit: editLimit, room: room)
                var completions: [Submission.Completion] = []
                completions.reserveCapacity(submissions.count)
                for submission in submissions {
                    completions.append(try submission.perform(&context))
                    if context.room == 0 || isOver() { break }
                }
                return GroupCommit(
                    commits: context.log.commits, completions: completions, rest: submissions[completions.count...],
                    touched: room - context.room)
            }
        } catch {
            let failure = error as? StoreError ?? .failed(path: "", reason: String(describing: error))
            for submission in submissions { submission.refuse(failure.problem) }
            throw failure
        }
    }

    /// Tells the owners, in the order of their submissions.
    package func complete() {
        for completion in completions { completion.tell() }
    }
}
