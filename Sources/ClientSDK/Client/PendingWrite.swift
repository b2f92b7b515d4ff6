public import FreshetWire

/// A write that is stored on this device and will be sent to the server.
///
/// ```swift
/// let write = try await notes.setValue(note, forKey: "7")     // shown and durable from here on, restarts included
/// switch try await write.outcome() {
/// case .confirmed(let revision): print("the server has it at", revision as Any)
/// case .rejected(let problem): print("rolled back:", problem)
/// }
/// ```
public struct PendingWrite: Sendable {
    /// The server's decision on a write.
    public enum Outcome: Hashable, Sendable {
        /// It took effect. No revision: the write removed a record that did not exist, or was decided so long ago that
        /// the server forgot the details.
        case confirmed(Revision?)
        /// It did not take effect and never will; the confirmed value is shown again.
        case rejected(Problem)
    }

    /// The device's number of the write: 1, 2, 3 …, for logs and lists.
    public let number: Int64
    /// The record of the write.
    public let key: RecordKey
    let promise: WriteOutcomePromise

    init(writeID: LocalWriteID, key: RecordKey, promise: WriteOutcomePromise) {
        number = writeID.number
        self.key = key
        self.promise = promise
    }

    /// Waits for the server's decision. May be called any number of times, from any task.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, which does not affect the write; ``ClientError/cleared`` or
    ///   ``ClientError/stopped`` when the client is cleared or stopped first (a stopped client sends the write when it
    ///   is started again).
    public func outcome() async throws -> Outcome { try await promise.value() }

    /// Waits until the server has the write.
    /// - Throws: ``ClientError/rejected(_:)``, and the errors of ``outcome()``.
    @discardableResult
    public func waitUntilConfirmed() async throws -> Revision? {
        switch try await outcome() {
        case .confirmed(let revision): return revision
        case .rejected(let problem): throw ClientError.rejected(problem)
        }
    }
}
