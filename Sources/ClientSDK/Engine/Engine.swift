internal import DequeModule
internal import Dispatch
internal import FreshetWire
internal import Logging

/// The edge around ``SyncMachine``: owns the machine, the disk and the timer, feeds events in and carries actions out.
///
/// An actor on the thread of its transport, so that its disk work never blocks the cooperative pool, and what it sends and what it gets
/// changes no threads. What it shares with readers, the memory tier, the observers and the status, has locks of its own, so that a
/// synchronous read never waits for the thread.
actor Engine {
    nonisolated let transport: CurlTransport
    nonisolated var unownedExecutor: UnownedSerialExecutor { transport.executor }

    nonisolated let settings: EngineSettings
    nonisolated let memory: MemoryTier
    nonisolated let observers = ObserverRegistry()
    nonisolated let reader = DiskReader()
    nonisolated let board = StatusBoard()
    nonisolated let merges = MergeRegistry()
    nonisolated let rejections = RejectionBoard()
    nonisolated let counters = DiskCounters()
    /// Where the user's merge closures run, so that a slow one holds up nothing but its own write.
    nonisolated let mergeQueue = DispatchQueue(label: "freshet.merge")

    var machine: SyncMachine?
    var disk: DiskTier?
    var timer: EngineTimer?
    /// What leaves the disk, while that is above its limit.
    var eviction: EvictionRound?
    /// How large the disk tier was when nothing of it could leave; 0 while something can.
    var hopelessBytes = 0
    /// Why there is no machine although nobody called ``stop()``: the disk failed for good.
    var failure: ClientError?

    /// Counts the starts, so that what belongs to an earlier life is known when it comes late.
    var run = 0
    private var inbox: Deque<SyncEvent> = []
    /// Transactions that wait for the calls that are queued, in order.
    var uncommitted: Deque<DiskTransaction> = []
    private var isHandling = false
    private var lastToken: Int64 = 0
    var callers: [Token: Caller] = [:]
    var promises: [Receipt: VerdictPromise] = [:]
    /// The transport's number of each request; `nil` while its token is being asked for.
    var requests: [RequestID: UInt64?] = [:]
    /// Whether the disk may have outgrown its limit during the present event.
    var watchesRoom = false
    /// Whether something that observers look at may have become unknown during the present event.
    var wantsRefresh = false
    /// What was fetched for observers and has not come yet, so that it is not asked for twice.
    var refreshing: Set<RecordKey> = []
    /// Collections that are observed and of which no list was read since.
    var unlisted: Set<String> = []
    /// Collections whose lists are being read for observers.
    var listing: Set<String> = []
    /// Counts the clears, so that no list has records from before one.
    var clears = 0

    init(_ settings: EngineSettings) throws(ClientError) {
        self.settings = settings
        do {
            transport = try CurlTransport(settings.transport)
        } catch {
            throw .storageFailed(path: settings.path, "\(error)")
        }
        memory = MemoryTier(costLimit: settings.memoryLimit, filter: settings.sync.filter)
    }

    // MARK: Life

    func start() throws(ClientError) {
        guard machine == nil else { return }
        failure = nil
        let client = settings.client ?? EngineSettings.randomClient
        let disk = try DiskTier(
            directory: settings.directory, namespace: settings.namespace, client: client, limit: settings.diskLimit,
            fileLimit: settings.fileLimit)
        var persisted = try loaded(disk)
        // A name that the app gives may have been another directory's.
        if settings.client != nil { persisted.isNew = false }
        do {
            try reader.open(disk.path)
        } catch {
            throw DiskTier.clientError(error, disk.path)
        }
        if let pressure = settings.memoryPressure { memory.shrinks(under: pressure) }
        self.disk = disk
        machine = SyncMachine(settings: settings.sync, client: persisted.state.client)
        timer = EngineTimer(transport) { [weak self] in self?.assumeIsolated { $0.tick() } }
        run += 1
        for name in merges.names { submit(.registered(name)) }
        submit(.started(persisted))
        watchRoom()
    }

    private func loaded(_ disk: DiskTier) throws(ClientError) -> PersistedState {
        do {
            return try disk.load()
        } catch {
            throw DiskTier.clientError(error, disk.path)
        }
    }

    /// Ends all activity; what is on disk stays. Waiting callers and verdicts fail with ``ClientError/stopped``.
    func stop() { shutDown(.stopped) }

    func shutDown(_ reason: ClientError) {
        guard machine != nil else { return }
        // What the machine would say to a last event, cancel all and answer everyone, is done here for all reasons alike.
        machine = nil
        inbox = []
        uncommitted = []
        timer = nil
        transport.disconnect()
        reader.close()
        disk = nil
        requests = [:]
        refreshing = []
        unlisted = []
        listing = []
        wantsRefresh = false
        eviction = nil
        hopelessBytes = 0
        for caller in callers.values { caller.fail(reason) }
        callers = [:]
        for promise in promises.values { promise.resolve(.failure(reason)) }
        promises = [:]
        memory.removeAll()
        observers.finish()
        rejections.finish()
        board.update { $0.connection = .stopped }
    }

    /// The disk is damaged: goes on with nothing, moves the file aside and says so, loudly.
    func giveUp(_ error: ClientError) {
        let path = disk?.path
        shutDown(error)
        guard case .corrupt = error, let path else { return failure = error }
        // The connection is closed by now: shutDown let go of the disk.
        let failure = ClientError.corrupt(path: path, quarantine: DiskTier.quarantine(path))
        settings.logger.critical("\(failure)")
        self.failure = failure
        board.update { $0.feedError = failure }
    }

    // MARK: Events

    /// Hands the machine an event and carries out what it wants, until nothing is left to do.
    func submit(_ event: SyncEvent) {
        inbox.append(event)
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while let event = inbox.popFirst() {
            let actions = machine?.handle(event, at: DeviceClock.moment) ?? []
            // One of them may stop the client.
            for action in actions where machine != nil { carryOut(action) }
            if inbox.isEmpty, wantsRefresh {
                wantsRefresh = false
                refresh()
            }
        }
        guard watchesRoom else { return }
        // Once all is sent and told.
        watchesRoom = false
        watchRoom()
    }

    /// Asks again at once for everything that is under way or waits after a failure.
    ///
    /// - Parameter onOtherPath: whether the idle connections are of no use either.
    func reconnect(onOtherPath: Bool) {
        guard machine != nil else { return }
        // What it ends by that is cancelled by the machine, and its end is passed over.
        if onOtherPath { transport.disconnect() }
        submit(.wake)
    }

    private func tick() {
        guard let (gap, due) = timer?.look() else { return }
        if gap { submit(.wake) }
        if due { submit(.timer) }
    }

    func nextToken() -> Token {
        lastToken += 1
        return Token(lastToken)
    }

    /// What a call needs, or why there is none.
    func running() throws(ClientError) -> DiskTier {
        guard machine != nil, let disk else { throw failure ?? .stopped }
        return disk
    }
}
