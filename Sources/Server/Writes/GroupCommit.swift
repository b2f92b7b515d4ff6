package import FreshetWire

/// Applies a group of submissions in one transaction. The shell around it (``Committer``, or a simulator) supplies time and threads.
package struct GroupCommit: Sendable {
    /// What the transaction did, for the feed. Publish it first, so that whoever is told of a write finds it in the feed.
    package let commits: [NamespaceCommit]
    private let completions: [Submission.Completion]
    /// What was not done since the transaction had done enough: it is for a later one.
    package let rest: ArraySlice<Submission>

    /// How many bytes of values the patches and increments of one transaction read and make, some 60 ms of work: a batch of a thousand could
    /// otherwise hold up all writers for seconds.
    package static let room = 8 << 20

    /// Commits the submissions at once, or none: all, or those before their edits have taken up `room`, but at least one.
    ///
    /// If the store fails, no submission has had an effect, each is told why, and the error is thrown.
    package static func commit(
        _ submissions: [Submission], to store: any RecordStore, at time: Timestamp, editLimit: Int, room: Int = GroupCommit.room
    ) throws(StoreError) -> GroupCommit {
        store.prepare { submissions.flatMap(\.records) }
        do {
            return try store.transaction { transaction in
                var context = Submission.Context(transaction: transaction, time: time, editLimit: editLimit, room: room)
                var completions: [Submission.Completion] = []
                completions.reserveCapacity(submissions.count)
                for submission in submissions {
                    if context.room == 0, !completions.isEmpty { break }
                    completions.append(try submission.perform(&context))
                }
                return GroupCommit(
                    commits: context.log.commits, completions: completions, rest: submissions[completions.count...])
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
