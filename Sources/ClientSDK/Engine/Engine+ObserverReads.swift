internal import FreshetWire

/// Reads of unknown keys for observers. The machine repeats lists for observers itself.
///
/// A read that fails while the client is not live is repeated when the client is live again. While the client is live no
/// event may follow that would repeat it, so the timer does, with back-off.
extension Engine {
    /// Whether observers lack something that is being read, or is about to be.
    var readsForObservers: Bool {
        !refreshing.isEmpty || !listing.isEmpty || timer?.willReadAgain == true
            || wantsRefresh && !observers.unknownKeys.isEmpty
    }

    /// Updates the status: verified if the machine says so, and observers lack nothing.
    func showVerification() {
        guard let isVerified = machine?.status.isVerified else { return }
        let isComplete = isVerified && !readsForObservers
        if statusBroadcaster.status.isVerified != isComplete { statusBroadcaster.update { $0.isVerified = isComplete } }
    }

    /// Fetches observed keys that are unknown.
    func refresh() {
        let keys = observers.unknownKeys.filter { !refreshing.contains($0) }
        guard !keys.isEmpty else { return }
        refreshing.formUnion(keys)
        let callerID = nextCallerID()
        callers[callerID] = .refresh(keys)
        submit(.fetch(FetchRequest(callerID: callerID, items: keys.map { FetchRequest.Item(key: $0) })))
    }

    /// Repeats the reads for observers that have failed.
    func readAgain() {
        guard statusBroadcaster.status.isLive else { return }
        refresh()
    }

    /// Notes that keys were read for observers. Those that the disk did not take are still unknown to them.
    func readEnded(_ keys: [RecordKey]) {
        guard let storageFailure, !Set(keys).isDisjoint(with: observers.unknownKeys) else { return readBackoff.reset() }
        readFailed("observed records were not stored", storageFailure)
    }

    /// Notes that a read for observers failed, and schedules another one if it may succeed. Logs the first of several
    /// failures in a row.
    func readFailed(_ text: String, _ error: any Error) {
        guard statusBroadcaster.status.isLive, let error = error as? ClientError, error.isTransient, let timer else {
            return settings.logger.info("\(text): \(error)")
        }
        guard !timer.willReadAgain else { return }
        if readBackoff.failures == 0 { settings.logger.warning("\(text), and are requested again with back-off: \(error)") }
        let context = DeviceClock.eventContext
        var random = SeededRandom(context.random)
        timer.readAgain(at: context.uptime + readBackoff.next(settings.sync, &random))
    }
}

extension ClientError {
    /// Whether a read that failed so may succeed later without a change by the user.
    ///
    /// A wrong response and a refused token may concern one request alone: the client stays live while its poll is held.
    /// Not after a clear: the client is not live then, and the reads follow when it is live again.
    fileprivate var isTransient: Bool {
        switch self {
        case .unreachable, .untrusted, .intercepted, .unexpectedResponse, .outdated, .noToken, .unauthorized: true
        case .diskFull, .readOnly, .storageFailed: true
        case .refused(let problem): problem.status >= 500 || [401, 408, 410, 425, 429].contains(problem.status)
        default: false
        }
    }
}
