import Dispatch
import Testing

/// Threads for tests that wait for the browser. On the cooperative pool each of their steps would wait for whole simulations, which
/// other tests run on all of its threads.
final class BrowserExecutor: TaskExecutor {
    static let shared = BrowserExecutor()

    private let queue = DispatchQueue(label: "freshet.tests.browser-tests", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs a suite's tests on ``BrowserExecutor``.
struct BrowserThreads: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BrowserExecutor.shared) { try await function() }
    }
}

extension Trait where Self == BrowserThreads {
    /// Runs the tests on the threads of a separate queue.
    static var browserThreads: Self { Self() }
}
