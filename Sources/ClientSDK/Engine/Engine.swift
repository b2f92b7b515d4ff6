internal import DequeModule
internal import Dispatch
internal import FreshetCache
internal import FreshetPlatform
internal import FreshetTransport
internal import FreshetWire

/// The edge around ``SyncMachine``: owns the machine, the disk and the timer, submits events and carries out actions.
///
/// An actor on the thread of its transport: its disk work never blocks the cooperative pool, and its requests and
/// responses change no threads. The memory tier, the observers and the status, which it shares with readers, have
/// separate locks, so that a synchronous read never waits for the thread.
actor Engine {
    nonisolated let transport: CurlTransport
    nonisolated var unownedExecutor: UnownedSerialExecutor { transport.executor }

    nonisolated let settings: EngineSettings
    nonisolated let memory: MemoryTier
    nonisolated let observers = ObserverRegistry()
    nonisolated let reader = DiskReader()
    /// The records that callers have read last and that the client does not follow: they are shown to no later caller, and are what
    /// the conditions of later writes refer to.
    nonisolated let seen: Cache<RecordKey, Entry>
    nonisolated let statusBroadcaster = StatusBroadcaster()
    nonisolated let merges = MergeRegistry()
    nonisolated let rejections = Broadcast<Void>(keepingLatest: 1)
    nonisolated let counters = DiskCounters()
    /// The queue of the user's merge closures, so that a slow one delays only its own write.
    nonisolated let mergeQueue = DispatchQueue(label: "freshet.merge")

    var machine: SyncMachine?
    var disk: DiskTier?
    var timer: EngineTimer?
    /// The eviction in progress, while the disk tier is above its limit.
    var eviction: EvictionRound?
    /// The size of the disk tier when nothing could be evicted; 0 while something can.
    var unevictableBytes = 0
    /// The reason why there is no machine although ``stop()`` was not called: the disk failed permanently.
    var failure: ClientError?

    /// Counts the stops, so that late results of an earlier run are recognized.
    var run = 0
    private var inbox: Deque<SyncEvent> = []
    /// Transactions that wait for the queued calls, in order.
    var uncommitted: Deque<DiskTransaction> = []
    private var isHandling = false
    private var lastCallerID: Int64 = 0
    var callers: [CallerID: Caller] = [:]
    var promises: [LocalWriteID: WriteOutcomePromise] = [:]
    /// The transport's number of each request; `nil` while its token is being requested.
    var requests: [RequestID: UInt64?] = [:]
    /// Whether the disk may have outgrown its limit during the present event.
    var checksDiskLimit = false
    /// Whether an observed key may have become unknown during the present event.
    var wantsRefresh = false
    /// Keys that are being fetched for observers, so that they are not requested twice.
    var refreshing: Set<RecordKey> = []
    /// Observed collections whose list has not been read since.
    var unlisted: Set<String> = []
    /// Collections whose lists are being read for observers.
    var listing: [String: CallerID] = [:]
    /// The back-off of reads for observers that fail while the client is live.
    var readBackoff = Backoff()
    /// Why the disk did not take the latest transaction that failed. Callers get values that were not stored; observers do not.
    var storageFailure: ClientError?
    var tokenRights = TokenRights()

    init(_ settings: EngineSettings) throws(ClientError) {
        self.settings = settings
        do {
            transport = try CurlTransport(settings.transport)
        } catch {
            throw .storageFailed(path: settings.path, "\(error)")
        }
        memory = MemoryTier(costLimit: settings.memoryLimit, filter: settings.sync.filter)
        seen = Cache(costLimit: settings.memoryLimit / 8, lifetime: .unlimited, shards: 1) { 256 + ($0.content?.bytes.count ?? 0) }
    }

    // MARK: Life

    func start() throws(ClientError) {
        guard machine == nil else { return }
        failure = nil
        var (disk, persisted) = try movingDamageAside(loadDisk)
        // Another directory may have used a name that the app gives.
        if settings.client != nil { persisted.isNew = false }
        if let pressure = settings.memoryPressure { memory.shrinks(under: pressure) }
        self.disk = disk
        machine = SyncMachine(settings: settings.sync, client: persisted.state.client)
        timer = EngineTimer(transport) { [weak self] in self?.assumeIsolated { $0.tick() } }
        for name in merges.names { submit(.registered(name)) }
        submit(.started(persisted))
        checkDiskLimit()
    }

    func openDisk() throws(ClientError) -> DiskTier {
        try DiskTier(
            directory: settings.directory?.text, namespace: settings.namespace, client: settings.client ?? EngineSettings.randomClient,
            limit: settings.diskLimit, fileLimit: settings.fileLimit)
    }

    private func loadDisk() throws(ClientError) -> (DiskTier, PersistedState) {
        let disk = try openDisk()
        let persisted = try disk.handling {
            try disk.claim(for: settings.principal)
            let persisted = try disk.load()
            // Without the reader, the engine reads.
            if !disk.isExclusive { try reader.open(disk.path) }
            return persisted
        }
        return (disk, persisted)
    }

    /// Runs the body, and moves aside a file in which it finds damage, so that the next start begins with an empty one.
    ///
    /// - Parameter body: opens the disk. When it throws it has released the disk, so the file's connection is closed.
    func movingDamageAside<Result>(_ body: () throws(ClientError) -> Result) throws(ClientError) -> Result {
        do {
            return try body()
        } catch {
            // Damage that was found while the file was opened has been moved aside already.
            guard settings.directory != nil, case .corrupt(let path, let quarantine) = error, quarantine == path else { throw error }
            throw .corrupt(path: path, quarantine: DiskTier.quarantine(path))
        }
    }

    /// Ends all activity; data on disk stays. Waiting callers and verdicts fail with ``ClientError/stopped``.
    func stop() { shutDown { .stopped } }

    /// - Parameter reason: returns why waiting callers fail; called after the release of the disk.
    private func shutDown(_ reason: () -> ClientError) {
        guard machine != nil else { return }
        // Cancels all requests and fails all callers, as the machine would do for a stop event, for all reasons alike.
        machine = nil
        run += 1
        inbox = []
        uncommitted = []
        timer = nil
        transport.disconnect()
        reader.close()
        disk = nil
        let reason = reason()
        requests = [:]
        refreshing = []
        unlisted = []
        listing = [:]
        readBackoff.reset()
        storageFailure = nil
        tokenRights = TokenRights()
        wantsRefresh = false
        eviction = nil
        unevictableBytes = 0
        for caller in callers.values { caller.fail(reason) }
        callers = [:]
        for promise in promises.values { promise.resolve(.failure(reason)) }
        promises = [:]
        memory.removeAll()
        seen.removeAll()
        observers.finish()
        rejections.finish()
        statusBroadcaster.update { ($0.connection, $0.rights) = (.stopped, nil) }
    }

    /// Stops the client because the disk is damaged, moves the file aside and reports it as critical.
    func giveUp(_ error: ClientError) {
        let path = disk?.path
        var failure = error
        shutDown {
            // Before the callers fail, since their error states where the file is.
            if let path { failure = .corrupt(path: path, quarantine: DiskTier.quarantine(path)) }
            return failure
        }
        settings.logger.critical("\(failure)")
        self.failure = failure
        statusBroadcaster.update { $0.feedError = failure }
    }

    // MARK: Events

    /// Hands the machine an event and carries out its actions, until none is left.
    func submit(_ event: SyncEvent) {
        inbox.append(event)
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while let event = inbox.popFirst() {
            let actions = machine?.handle(event, at: DeviceClock.eventContext) ?? []
            // An action may stop the client.
            for action in actions where machine != nil { carryOut(action) }
            if inbox.isEmpty, wantsRefresh {
                wantsRefresh = false
                refresh()
            }
        }
        showVerification()
        guard checksDiskLimit else { return }
        // After all sends and notifications.
        checksDiskLimit = false
        checkDiskLimit()
    }

    /// Retries all requests that are in flight or wait after a failure.
    ///
    /// - Parameter onOtherPath: whether to close idle connections too.
    func reconnect(onOtherPath: Bool) {
        guard machine != nil else { return }
        // The machine cancels the requests that this ends, and their end is ignored.
        if onOtherPath { transport.disconnect() }
        submit(.wake)
    }

    private func tick() {
        if let look = timer?.look() { act(on: look) }
    }

    /// Does what a look at the clocks demands.
    func act(on look: (gap: Bool, due: Bool, readDue: Bool)) {
        // The other side may have ended the idle connections while this one slept. libcurl judges their age by a clock
        // that stops in a sleep, and would send the next poll on one of them.
        if look.gap { reconnect(onOtherPath: true) }
        if look.due { submit(.timer) }
        if look.readDue { readAgain() }
    }

    func nextCallerID() -> CallerID {
        lastCallerID += 1
        return CallerID(lastCallerID)
    }

    /// Returns the disk of the running client, or throws the reason why there is none.
    func running() throws(ClientError) -> DiskTier {
        guard machine != nil, let disk else { throw failure ?? .stopped }
        return disk
    }
}
