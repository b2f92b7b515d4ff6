/// The outcome of a write, the same however often a client asks.
package struct WriteOutcome: Hashable, Sendable {
    /// The verdict.
    package enum Verdict: Hashable, Sendable {
        /// It took effect. Without a revision: a delete of a record that was not there.
        case applied(Revision?)
        /// It did not, and never will.
        indirect case rejected(Problem)
        /// It was decided so long ago that the outcome is no longer kept.
        case settled
    }

    /// The write's number.
    package var number: Int64
    /// The verdict.
    package var verdict: Verdict

    /// An outcome.
    package init(number: Int64, verdict: Verdict) {
        self.number = number
        self.verdict = verdict
    }
}
