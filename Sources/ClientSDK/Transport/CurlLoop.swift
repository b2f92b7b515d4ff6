internal import CCurl
internal import Glibc
internal import Synchronization

/// What the transport and its thread share: the commands that wait, and the way to wake the thread.
///
/// The thread holds this object until it ends. So the transport may go at any time, and takes the thread with it by ``shutdown()``.
final class CurlLoop: Sendable {
    enum Command {
        case send(id: UInt64, HTTPRequestDescription, Transfer.Completion)
        case cancel(UInt64)
    }

    struct State {
        var commands: [Command] = []
        var lastIdentifier: UInt64 = 0
        var isShutDown = false
        /// The multi handle's address while `curl_multi_wakeup` may be called on it, a pointer not being `Sendable`.
        /// The thread clears it, under this lock, before it destroys the handle.
        var multi: UInt?
    }

    let configuration: CurlTransport.Configuration
    private let state = Mutex(State())

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
                let loop = Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue()
                CurlLoop.quietSignals()
                loop.run()
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

    func send(_ request: HTTPRequestDescription, _ completion: @escaping Transfer.Completion) -> UInt64 {
        let (id, accepted) = state.withLock { state in
            state.lastIdentifier += 1
            guard !state.isShutDown else { return (state.lastIdentifier, false) }
            state.commands.append(.send(id: state.lastIdentifier, request, completion))
            state.wake()
            return (state.lastIdentifier, true)
        }
        if !accepted { completion(.failure(.aborted)) }
        return id
    }

    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard !state.isShutDown else { return }
            state.commands.append(.cancel(id))
            state.wake()
        }
    }

    func shutdown() {
        state.withLock { state in
            state.isShutDown = true
            state.wake()
        }
    }

    private func run() {
        guard let multi = state.withLock({ $0.multi }).flatMap(UnsafeMutableRawPointer.init(bitPattern:)) else { return }
        let transfers = TransferTable(multi: multi, configuration: configuration)
        while true {
            let (commands, isShutDown) = state.withLock { state in
                let commands = state.commands
                state.commands = []
                return (commands, state.isShutDown)
            }
            for command in commands {
                switch command {
                case .send(let id, let request, let completion): transfers.begin(id, request, completion)
                case .cancel(let id): transfers.cancel(id)
                }
            }
            if isShutDown { break }
            transfers.perform()
            // Bounded, so that no fault in libcurl's wake-ups or timers can hold anything for longer than a second.
            curl_multi_poll(multi, nil, 0, 1_000, nil)
        }
        transfers.abortAll()
        state.withLock { $0.multi = nil }
        curl_multi_cleanup(multi)
    }

    /// A broken TLS connection can raise SIGPIPE here, since `CURLOPT_NOSIGNAL` leaves that to us; the program's own signals belong elsewhere.
    private static func quietSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}

extension CurlLoop.State {
    func wake() {
        // May be called from any thread while the handle lives: https://curl.se/libcurl/c/curl_multi_wakeup.html
        if let multi = multi.flatMap(UnsafeMutableRawPointer.init(bitPattern:)) { curl_multi_wakeup(multi) }
    }
}
