internal import CCurl
internal import Glibc
internal import Synchronization

/// What the transport and its thread share: what waits to be done there, and the way to wake the thread.
///
/// The thread is also an executor: an actor on it sends its requests and takes their answers without waking anyone.
///
/// The thread holds this object until it ends. So the transport may go at any time, and takes the thread with it by ``shutdown()``.
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

    private enum Course { case refused, ordered, atOnce }

    struct State {
        var commands: [Command] = []
        var jobs: [Job] = []
        var alarm: (time: Int64, fire: @Sendable () -> Void)?
        var lastIdentifier: UInt64 = 0
        var isShutDown = false
        /// Whether the thread sleeps, or is about to, and nobody has woken it.
        var isAsleep = false
        /// The multi handle's address while `curl_multi_wakeup` may be called on it, a pointer not being `Sendable`.
        /// The thread changes it, under this lock, before it destroys the handle.
        var multi: UInt?
    }

    let configuration: CurlTransport.Configuration
    let state = Mutex(State())
    /// The thread's alone, as the next: nobody else touches them, which is what makes them safe. Set while jobs and completions may send at once.
    nonisolated(unsafe) var transfers: TransferTable?
    /// Whether libcurl may have something to do: a socket is ready, a time has passed, a request is new.
    nonisolated(unsafe) var mayProceed = true
    /// The thread's `pthread_t`, which it writes down before it does anything else; 0 before.
    let thread = Atomic<UInt>(0)

    private init(_ configuration: CurlTransport.Configuration) { self.configuration = configuration }

    /// libcurl asks for this once a process, before anything else: <https://curl.se/libcurl/c/curl_global_init.html>.
    private static let globalCode = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    static func start(_ configuration: CurlTransport.Configuration) throws(TransportError) -> CurlLoop {
        guard globalCode == CURLE_OK else {
            throw .failed(code: Int(globalCode.rawValue), String(cString: curl_easy_strerror(globalCode)))
        }
        guard let multi = curl_multi_init() else { throw .failed(code: Int(CURLE_OUT_OF_MEMORY.rawValue), "no memory for a multi handle") }
        let loop = CurlLoop(configuration)
        loop.state.withLock { $0.multi = UInt(bitPattern: multi) }
        // Balanced by takeRetainedValue in the thread, or below if there is no thread.
        let context = Unmanaged.passRetained(loop)
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard failure == 0 else {
            context.release()
            curl_multi_cleanup(multi)
            throw .failed(code: Int(failure), "no thread: \(String(cString: strerror(failure)))")
        }
        pthread_detach(thread)
        return loop
    }

    // MARK: Requests

    func send(_ request: HTTPRequestDescription, _ completion: @escaping Transfer.Completion) -> UInt64 {
        let isDirect = isCurrent && transfers != nil
        let (id, course) = state.withLock { state in
            state.lastIdentifier += 1
            if state.isShutDown { return (state.lastIdentifier, Course.refused) }
            // What was ordered before comes first.
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

    /// Has a closure called on the thread in so many milliseconds, in place of the one that was to be called.
    func setAlarm(in wait: Int64, _ fire: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.alarm = (Self.now + wait, fire)
            state.wake()
        }
    }

    func clearAlarm() { state.withLock { $0.alarm = nil } }

    /// Whether the caller runs on the thread.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// What lets an actor on this executor assume its isolation in a job or a completion: it traps elsewhere.
    func checkIsolated() { precondition(isCurrent, "this runs on the thread of a transport alone") }

    /// Milliseconds of the clock that `poll` goes by.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

extension CurlLoop.State {
    /// Wakes the thread, which looks for more to do before it sleeps: nothing where it is awake.
    mutating func wake() {
        guard isAsleep else { return }
        isAsleep = false
        // May be called from any thread while the handle lives: https://curl.se/libcurl/c/curl_multi_wakeup.html
        if let multi = multi.flatMap(UnsafeMutableRawPointer.init(bitPattern:)) { curl_multi_wakeup(multi) }
    }
}
