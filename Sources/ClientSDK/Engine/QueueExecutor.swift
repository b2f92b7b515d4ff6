internal import Dispatch

/// Runs an actor on a serial queue, so that its disk work never blocks the cooperative pool, and plain callbacks can reach it.
final class QueueExecutor: SerialExecutor {
    let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { @Sendable in job.runSynchronously(on: executor) }
    }

    /// What lets ``Engine`` assume its isolation in a block of this queue: it traps elsewhere.
    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
