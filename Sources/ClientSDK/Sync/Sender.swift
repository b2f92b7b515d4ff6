import FreshetWire

/// The way of the outbox to the server.
struct Sender: Sendable {
    /// A batch, or the question for the server's last number.
    var request: RequestID?
    /// An answer is on its way to the disk.
    var isDeciding = false
    /// The answer to the question for the last number is on its way to the disk.
    var isReconciling = false
    /// The server told of a gap in the numbers: ask for its last before anything is sent.
    var sawGap = false
    /// The server's last number of ours in this history, from when it was asked until it has answered a higher one. A batch that leaves
    /// numbers out behind it says so: all before its first have their verdicts, from another history.
    var resumesAfter: Int64?
    /// Writes up to this number may have been sent, in this life of the process or before.
    var sentThrough: Int64 = 0
    /// The most writes in a batch; fewer while the one that the server does not even take apart is being looked for.
    var limit = Int.max
    /// Writes that the server refuses to take apart, and why. Sent as a delete that cannot apply, so that the number is used up and those behind
    /// go on; if an earlier attempt was taken after all, the answer tells.
    var voided: [Int64: Problem] = [:]
    var notBefore: Int64 = 0
    var backoff = Backoff()
    var needsFreshToken = false
    var trouble: SyncStatus.Trouble?
}
