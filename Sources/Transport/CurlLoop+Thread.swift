internal import CFreshetCurl
internal import Glibc
internal import Synchronization

/// The thread: libcurl's transfers, an actor's jobs, a timer, and sleep.
extension CurlLoop {
    func run() {
        Self.quietSignals()
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        guard let multi = state.withLock({ $0.multi }).flatMap(UnsafeMutableRawPointer.init(bitPattern:)) else { return }
        var transfers = TransferTable(multi: multi, configuration: configuration)
        while work(&transfers) { sleep(transfers) }
        transfers.abortAll()
        // Jobs of jobs too: no other thread will run them.
        while case let jobs = takeWork().jobs, !jobs.isEmpty { for job in jobs { run(job) } }
        state.withLock { $0.multi = nil }
        curl_multi_cleanup(transfers.multi)
    }

    /// Does all waiting work. A separate function, so that references held by jobs and completions are released before
    /// the thread sleeps.
    ///
    /// - Returns: whether to continue.
    private func work(_ transfers: inout TransferTable) -> Bool {
        let (commands, jobs, isShutDown) = takeWork()
        self.transfers = nil
        for command in commands {
            switch command {
            case .send(let id, let request, let completion): begin(id, request, completion, transfers)
            case .cancel(let id): transfers.cancel(id)
            case .disconnect: transfers = disconnected(transfers)
            }
        }
        guard !isShutDown else {
            // They may hold completions. A request that one of them sends is refused at once.
            for job in jobs { run(job) }
            return false
        }
        self.transfers = transfers
        if mayProceed { transfers.proceed() }
        mayProceed = false
        transfers.complete()
        transfers.expire()
        for job in jobs { run(job) }
        transfers.complete()
        return true
    }

    private func begin(
        _ id: UInt64, _ request: HTTPRequestDescription, _ completion: @escaping Transfer.Completion, _ transfers: TransferTable
    ) {
        do {
            try transfers.begin(id, request, completion)
            mayProceed = true
        } catch {
            // Never within the call that sends.
            add(.closure { completion(.failure(error)) })
        }
    }

    /// Sends a request of a job or a completion: the request is sent before the job continues.
    func sendNow(_ id: UInt64, _ request: HTTPRequestDescription, _ completion: @escaping Transfer.Completion) {
        guard let transfers else { return }
        begin(id, request, completion, transfers)
        transfers.proceed()
    }

    private func takeWork() -> (commands: [Command], jobs: [Job], isShutDown: Bool) {
        state.withLock { state in
            defer { (state.commands, state.jobs) = ([], []) }
            if let timer = state.timer, timer.time <= Self.now {
                state.jobs.append(.closure(timer.fire))
                state.timer = nil
            }
            return (state.commands, state.jobs, state.isShutDown)
        }
    }

    private func run(_ job: Job) {
        switch job {
        case .ofActor(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .closure(let closure): closure()
        }
    }

    /// Waits for sockets, libcurl's timers, the timer or a call from another thread.
    ///
    /// Detects whether libcurl may have something to do.
    private func sleep(_ transfers: TransferTable) {
        let (wait, hasJobs) = state.withLock { state -> (Int64?, Bool) in
            // New requests go to libcurl without a check for other work.
            if !state.commands.isEmpty || state.isShutDown { return (nil, false) }
            if !state.jobs.isEmpty { return (0, true) }
            // Bounded, so that a fault in libcurl's wake-ups or timers delays work by at most a second.
            let next = min(state.timer?.time ?? .max, transfers.nextDeadline)
            let wait = min(1_000, max(0, next - Self.now))
            state.isAsleep = true
            return (wait, false)
        }
        guard let wait else { return }
        var ready: Int32 = 0
        curl_multi_poll(transfers.multi, nil, 0, Int32(wait), &ready)
        let isWoken = state.withLock { state in
            defer { state.isAsleep = false }
            return !state.isAsleep
        }
        // The end of a libcurl timer is not reported: if a wake-up by a call hides it, the next sleep ends at once.
        mayProceed = mayProceed || ready > 0 || !(isWoken || hasJobs)
    }

    /// Ends all requests and closes the connections; later requests use another multi handle.
    private func disconnected(_ transfers: TransferTable) -> TransferTable {
        transfers.abortAll()
        // Without memory for another multi handle, the connections stay open.
        guard let multi = curl_multi_init() else { return transfers }
        state.withLock { $0.multi = UInt(bitPattern: multi) }
        curl_multi_cleanup(transfers.multi)
        return TransferTable(multi: multi, configuration: configuration)
    }

    /// Blocks all signals on this thread. A broken TLS connection can raise SIGPIPE here, since `CURLOPT_NOSIGNAL`
    /// leaves that to the caller; the program's signals belong to other threads.
    private static func quietSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
