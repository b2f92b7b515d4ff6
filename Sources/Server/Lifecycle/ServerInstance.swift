import Dispatch
internal import FreshetPlatform
import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import Logging
import Synchronization

/// One run of a server: the store, the HTTP server, and the timer that ends waits and starts compaction.
final class ServerInstance: Sendable {
    let core: ServerCore
    private let store: ClosableStore
    private let server: HTTPServer
    private let crossOrigin: CrossOriginList
    private let listeners: ServerListeners
    private let timer = RepeatingTimer(interval: ServerInstance.tick)
    private let compaction: Mutex<CompactionSchedule>
    private let retention: Retention
    private let isCheckingFiles = Atomic(false)

    /// How often waits and compaction are checked, in milliseconds.
    private static let tick = 250

    /// - Parameters:
    ///   - shared: the store that the server shares with others; `nil` opens the configuration's.
    ///   - onAuditFailure: called once if the audit log is required, and cannot be written.
    init(
        _ configuration: RecordServerConfiguration, sharing shared: SharedStore?, _ environment: ServerEnvironment, _ logger: Logger,
        onAuditFailure: @escaping @Sendable (String) -> Void
    ) throws(RecordServerError) {
        let audit = try AuditLog(
            configuration.auditLog, isRequired: configuration.requiresAuditLog, environment, logger, onFailure: onAuditFailure)
        do throws(StoreError) {
            store = ClosableStore(try Self.open(configuration, sharing: shared, environment))
        } catch { throw RecordServerError(error) }
        listeners = try ServerListeners(configuration, environment, logger)
        let access: AccessControl?
        do throws(StoreError) {
            access =
                configuration.requiresKeys
                ? AccessControl(
                    configuration.policy(listeners.authorities), rows: try store.accessChanges(after: nil), environment: environment,
                    logger: logger)
                : nil
        } catch { throw RecordServerError(error) }
        retention = Retention(
            deletes: configuration.tombstoneRetention.clampedMilliseconds, outcomes: configuration.outcomeRetention.clampedMilliseconds)
        let clock: ServerClock
        do throws(StoreError) { clock = try ServerClock(store, environment, offLimit: retention.offLimit) } catch {
            throw RecordServerError(error)
        }
        let core = ServerCore(
            store: store, clock: clock, announcements: shared?.announcements, settings: configuration.settings, access: access,
            listeners: listeners,
            audit: audit,
            pendingReads: configuration.pendingReads, environment: environment, logger: logger)
        self.core = core
        var http = configuration.http
        crossOrigin = CrossOriginList(
            configuration.allowedOrigins, exposed: ServerCore.fieldsForPages, accepted: ServerCore.fieldsOfPages)
        http.crossOrigin = crossOrigin
        listeners.configure(&http, for: configuration)
        server = HTTPServer(configuration: http, router: core.router(), logger: logger) { [core] in
            core.readiness.stop()
            core.feeds.drain()
        }
        core.attach(server)
        compaction = Mutex(CompactionSchedule(interval: configuration.compactionInterval.clampedMilliseconds, now: core.now()))
    }

    deinit { timer.cancel() }

    func start() throws(RecordServerError) -> [BoundAddress] {
        do throws(RecordServerError) {
            try core.audit.start()
            core.follower?.timePassed()
            timer.start { [weak self] in self?.timePassed() }
            let addresses: [BoundAddress]
            do throws(SocketHTTPError) { addresses = try server.startListening() } catch { throw RecordServerError(error) }
            // Now and not at the first tick: the store has to have the mark of the clock by which writes are stamped.
            compactIfDue(now: core.now())
            return addresses
        } catch {
            timer.cancel()
            core.follower?.stop()
            core.audit.stop()
            store.close()
            throw error
        }
    }

    /// Takes the parts of a configuration that a running server can take: rights, limits and certificates. Waiting readers
    /// are answered with their position, so that each comes back under its new rights. Blocks on the disk.
    ///
    /// - Parameter cause: the record of the request for it; `nil` if there is none.
    func reload(_ configuration: RecordServerConfiguration, by cause: AuditRecord?) throws(RecordServerError) {
        guard let access = core.access else {
            throw .invalidConfiguration("the server runs without access control: restart it with the file")
        }
        let exchangeCertificates = try listeners.prepare(configuration)
        let changed = exchangeCertificates()
        access.set(configuration.policy(listeners.authorities))
        crossOrigin.set(configuration.allowedOrigins)
        core.committer.set(configuration.quotas.namespace)
        core.feeds.releaseAllWaiters()
        record(.configurationReloaded, by: cause)
        record(changed, by: cause)
    }

    /// Reads the certificates again. If an authority of clients is another one then, waiting readers are answered with their
    /// position, and streams end: connections whose certificates it has not signed are closed at the next request. Blocks on the
    /// disk.
    func reloadCertificates(_ configuration: RecordServerConfiguration, by cause: AuditRecord?) throws(RecordServerError) {
        let exchangeCertificates = try listeners.prepare(configuration)
        let authorities = listeners.authorities
        let changed = exchangeCertificates()
        if listeners.authorities != authorities { core.feeds.releaseAllWaiters() }
        record(changed, by: cause)
    }

    private func record(_ changed: [ServerCertificates], by cause: AuditRecord?) {
        for certificates in changed {
            let end = Timestamp(milliseconds: certificates.end * 1_000)
            record(.certificateChanged, detail: "the first one ends at \(end)", by: cause)
        }
    }

    private func record(_ event: AuditEvent, detail: String? = nil, by cause: AuditRecord?) {
        var record = core.audit.event(event, detail: detail)
        (record.principal, record.address, record.request) = (cause?.principal, cause?.address, cause?.request)
        core.audit.record(record)
    }

    func stop() async {
        await server.drain()
        timer.cancel()
        core.follower?.stop()
        if let access = core.access {
            await withCheckedContinuation { continuation in access.stop { continuation.resume() } }
        }
        await withCheckedContinuation { continuation in core.reads.stop { continuation.resume() } }
        core.storeUses()
        await withCheckedContinuation { continuation in core.committer.stop { continuation.resume() } }
        core.audit.stop()
        store.close()
    }

    /// Runs all steps of a compaction pass now.
    func compact() async {
        while await compactStep() == false {}
    }

    private func timePassed() {
        let now = core.now()
        for certificates in core.certificates { certificates.timePassed() }
        core.feeds.expire(now: now)
        core.follower?.timePassed()
        if core.follower != nil { core.accessFollower?.timePassed(now: now) }
        checkFiles()
        if let problem = core.readersProblem { core.feeds.refuseAllWaiters(problem) }
        core.access?.noteTime()
        core.storeUses()
        core.access?.tick()
        if core.access?.takeEndedGracePeriods() == true { core.endRevokedWaits() }
        core.audit.tick()
        compactIfDue(now: now)
    }

    private func compactIfDue(now: Int64) {
        guard compaction.withLock({ $0.tick(now: now) }) else { return }
        core.removeExpiredRevocations()
        core.committer.submit(
            .compact(by: core.clock, retention) { [weak self, core] committed in
                let isComplete = Self.count(committed, core)
                self?.compaction.withLock { $0.finished(isComplete: isComplete, now: core.now()) }
            })
    }

    /// Has the store look at its files, so that readers learn that they were moved also while nothing is written.
    private func checkFiles() {
        if let failure = store.failure { return core.failures.note(.store, failure) }
        // A disk that does not respond keeps one thread, and not one more each time.
        guard store.answersAtOnce, !isCheckingFiles.exchange(true, ordering: .relaxed) else { return }
        core.reads.submitUrgent { [weak self] in
            self?.store.checkFiles()
            self?.isCheckingFiles.store(false, ordering: .relaxed)
        }
    }

    private func compactStep() async -> Bool {
        await withCheckedContinuation { continuation in
            core.committer.submit(
                .compact(by: core.clock, retention) { [core] in continuation.resume(returning: Self.count($0, core)) })
        }
    }

    /// Counts the work of a step, and returns whether no work remains. A failure is in the log already and leaves the
    /// rest for the next pass.
    private static func count(_ committed: Committed<Compaction>, _ core: ServerCore) -> Bool {
        guard case .success(let compaction) = committed.result else { return true }
        core.metrics.forgotten.add(compaction.forgotten)
        core.metrics.forgottenOutcomes.add(compaction.outcomes)
        return compaction.isComplete
    }

    private static func open(
        _ configuration: RecordServerConfiguration, sharing shared: SharedStore?, _ environment: ServerEnvironment
    ) throws(StoreError) -> any RecordStore {
        let store: any RecordStore =
            switch (shared, configuration.storage) {
            case (let shared?, _): shared.store
            case (nil, .memory): MemoryRecordStore(seed: environment.random())
            case (nil, .directory(let path)):
                try SQLiteRecordStore(directory: path, seed: environment.random(), lookups: configuration.loops)
            }
        guard configuration.isRestored else { return store }
        let rotation = Submission.rotateEpochs(seed: environment.random()) { _ in }
        _ = try GroupCommit.commit(
            [rotation], to: store, at: WriteTime(milliseconds: environment.wallMilliseconds()), editLimit: configuration.editedBytes)
        return store
    }
}
