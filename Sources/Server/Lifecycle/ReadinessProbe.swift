import FreshetWire
import Synchronization

/// Checks whether the server can commit, by asking the disk at most once a second.
final class ReadinessProbe: Sendable {
    typealias Completion = @Sendable (Problem?) -> Void

    private struct State {
        /// The last answer of the disk and its time, in milliseconds.
        var last: (problem: Problem?, time: Int64)?
        /// The callers that wait for the answer of the probe in progress; `nil` while there is none.
        var waiting: [Completion]?
        var isStopping = false
    }

    /// How long an answer is valid, in milliseconds.
    private static let validity: Int64 = 1_000

    private let committer: Committer
    private let state = Mutex(State())

    init(committer: Committer) { self.committer = committer }

    /// Reports the server as not ready from now on.
    func stop() { state.withLock { $0.isStopping = true } }

    /// Calls `completion` with the problem, or `nil` if the server is ready: at once, or when the disk has answered.
    func check(now: Int64, then completion: @escaping Completion) {
        enum Next { case finished(Problem?), probe, wait }
        let next = state.withLock { state -> Next in
            if state.isStopping {
                return .finished(Problem(.unavailable, "The server is stopping. Another may be there after Retry-After."))
            }
            if let last = state.last, now - last.time < Self.validity { return .finished(last.problem) }
            guard state.waiting == nil else {
                state.waiting?.append(completion)
                return .wait
            }
            state.waiting = [completion]
            return .probe
        }
        switch next {
        case .finished(let problem): completion(problem)
        case .wait: return
        case .probe:
            committer.submit(
                .probe { [self] committed in
                    guard case .failure(let problem) = committed.result else { return finish(nil, now) }
                    finish(problem, now)
                })
        }
    }

    private func finish(_ problem: Problem?, _ time: Int64) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            state.last = (problem, time)
            return state.waiting ?? []
        }
        for completion in waiting { completion(problem) }
    }
}
