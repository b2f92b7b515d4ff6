internal import CFreshetCurl
internal import FreshetPlatform
internal import Glibc
internal import Synchronization

/// The state that the transport and its thread share: the waiting work, and the means to wake the thread.
///
/// The thread is also an executor: an actor on it sends its requests and receives their responses without waking
/// another thread.
///
/// The thread holds this object until it ends. So the transport may be released at any time, and ends the thread with
/// ``shutdown()``.
final class CurlLoop: SerialExecutor {
    enum Command {
        case send(id: UInt64, HTTPRequestDescription, Transfer.Completion)
        case cancel(UInt64)
        case disconnect
    }

    enum Job {
        case ofActor(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private enum SendPath { case refused, ordered, atOnce }

    struct State {
        var commands: [Command] = []
        var jobs: [Job] = []
        var timer: (time: Int64, fire: @Sendable () -> Void)?
        var lastIdentifier: UInt64 = 0
        var isShutDown = false
        /// Whether the thread sleeps, or is about to, and has not been woken.
        var isAsleep = false
        /// The multi handle's address while `curl_multi_wakeup` may be called on it, since a pointer is not
        /// `Sendable`. The thread changes it, under this lock, before it destroys the handle.
        var multi: UInt?
    }

    let configuration: CurlTransport.Configuration
    let state = Mutex(State())
    /// Only the thread accesses this property and the next, which makes them safe. Set while jobs and completions may
    /// send at once.
    nonisolated(unsafe) var transfers: TransferTable?
    /// Whether libcurl may have something to do: a socket is ready, a time has passed, a request is new.
    nonisolated(unsafe) var mayProceed = true
    /// The thread's `pthread_t`, which the thread stores before it does anything else; 0 before.
    let thread = Atomic<UInt>(0)

    private init(_ configuration: CurlTransport.Configuration) { self.configuration = configuration }

    /// libcurl requires this once a process, before anything else: <https://curl.se/libcurl/c/curl_global_init.html>.
    private static let globalCode = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    static func start(_ configuration: CurlTransport.Configuration) throws(TransportError) -> CurlLoop {
        guard globalCode == CURLE_OK else {
            throw .failed(code: Int(globalCode.rawValue), String(cString: curl_easy_strerror(globalCode)))
        }
        guard let multi = curl_multi_init() else { throw .failed(code: Int(CURLE_OUT_OF_MEMORY.rawValue), "no memory for a multi handle") }
        let loop = CurlLoop(configuration)
        loop.state.withLock { $0.multi = UInt(bitPattern: multi) }
        let failure = DetachedThread.start { loop.run() }
        guard failure == 0 else {
            curl_multi_cleanup(multi)
            throw .failed(code: Int(failure), "no thread: \(SystemFailure(code: failure).reason)")
        }
        return loop
    }

    // MARK: Requests

    func send(_ request: HTTPRequestDescription, _ completion: @escaping Transfer.Completion) -> UInt64 {
        let isDirect = isCurrent && transfers != nil
        let (id, course) = state.withLock { state in
            state.lastIdentifier += 1
            if state.isShutDown { return (state.lastIdentifier, SendPath.refused) }
            // Earlier commands come first.
            if isDirect, state.commands.isEmpty { return (state.lastIdentifier, .atOnce) }
            state.commands.append(.send(id: state.lastIdentifier, request, completion))
            state.wake()
            return (state.lastIdentifier, .ordered)
        }
        switch course {
        case .ordered: break
        case .refused: completion(.failure(.aborted))
        case .atOnce: sendNow(id, request, completion)
        }
        return id
    }

    func order(_ command: Command) {
        state.withLock { state in
            guard !state.isShutDown else { return }
            state.commands.append(command)
            state.wake()
        }
    }

    func shutdown() {
        state.withLock { state in
            state.isShutDown = true
            state.wake()
        }
    }

    // MARK: Jobs

    func enqueue(_ job: consuming ExecutorJob) { add(.ofActor(UnownedJob(job))) }

    func add(_ job: Job) {
        state.withLock { state in
            state.jobs.append(job)
            state.wake()
        }
    }

    /// Sets a timer that calls the closure on the thread after this number of milliseconds, in place of an earlier timer.
    func setTimer(in wait: Int64, _ fire: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.timer = (Self.now + wait, fire)
            state.wake()
        }
    }

    func clearTimer() { state.withLock { $0.timer = nil } }

    /// Whether the caller runs on the thread.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Allows an actor on this executor to assume its isolation in a job or a completion; traps on other threads.
    func checkIsolated() { precondition(isCurrent, "this runs on the thread of a transport alone") }

    /// Milliseconds of the clock that `poll` uses.
    static var now: Int64 { SystemClock.monotonicNanoseconds / 1_000_000 }
}

extension CurlLoop.State {
    /// Wakes the thread if it sleeps. A thread that is awake checks for more work before it sleeps.
    mutating func wake() {
        guard isAsleep else { return }
        isAsleep = false
        // May be called from any thread while the handle lives: https://curl.se/libcurl/c/curl_multi_wakeup.html
        if let multi = multi.flatMap(UnsafeMutableRawPointer.init(bitPattern:)) { curl_multi_wakeup(multi) }
    }
}
