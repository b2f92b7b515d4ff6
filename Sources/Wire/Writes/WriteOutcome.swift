/// The outcome of a write, the same however often a client asks.
public struct WriteOutcome: Hashable, Sendable {
    /// The verdict.
    public enum Verdict: Hashable, Sendable {
        /// It took effect. Without a revision: a delete of a record that was not there.
        case applied(Revision?)
        /// It did not, and never will.
        indirect case rejected(Problem)
        /// It was decided so long ago that the outcome is no longer kept.
        case settled
    }

    /// The write's number.
    public var number: Int64
    /// The verdict.
    public var verdict: Verdict

    /// An outcome.
    public init(number: Int64, verdict: Verdict) {
        self.number = number
        self.verdict = verdict
    }
}
