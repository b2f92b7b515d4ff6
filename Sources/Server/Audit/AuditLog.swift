import Dispatch
internal import FreshetPlatform
import FreshetTrust
import FreshetWire
import Glibc
import Logging
import Synchronization

/// The audit log of a server: refusals are grouped, and kept for `GET /admin/denials`; they and all changes are written to
/// a file, if there is one.
///
/// Safe to use from any thread. A separate queue writes, so no caller waits for the disk. If the log is required, a change is
/// acknowledged only after its line is on the disk.
final class AuditLog: Sendable {
    /// Gets whether a line was written.
    typealias Completion = @Sendable (Bool) -> Void

    private struct State {
        var denials = DenialLog()
        var queue = AuditQueue<Completion>()
        /// When a writer that has failed tries again, in monotonic milliseconds; `nil` if it has not failed.
        var retry: Int64?
    }

    /// Milliseconds from a failure to the next attempt.
    private static let pause: Int64 = 10_000
    /// The answer to a change whose line could not be written, where that is required.
    static let unwritten = Problem(
        .storageFailed,
        "The change was made, but its line of the audit log could not be written, so the server stops: repair the log, start the server, "
            + "and check the change.")

    private let isRequired: Bool
    private let hasFile: Bool
    private let environment: ServerEnvironment
    private let logger: Logger
    private let onFailure: @Sendable (String) -> Void
    private let state = Mutex(State())
    /// `nil` without a file, and once the log has stopped. Held while lines are written.
    private let file: Mutex<AuditFile?>
    private let queue = DispatchQueue(label: "freshet.audit")
    private let hasFailed = Atomic(false)
    private let refusals = AuditEvent.allCases.map { ($0, Counter()) }

    /// Opens the file. Blocks on the disk.
    ///
    /// - Parameters:
    ///   - path: `nil` writes nothing.
    ///   - isRequired: whether the server may not continue without the log.
    ///   - onFailure: called at most once, when a required line could not be written.
    init(
        _ path: String?, isRequired: Bool, _ environment: ServerEnvironment, _ logger: Logger,
        onFailure: @escaping @Sendable (String) -> Void
    ) throws(RecordServerError) {
        (self.isRequired, hasFile) = (isRequired && path != nil, path != nil)
        (self.environment, self.logger, self.onFailure) = (environment, logger, onFailure)
        do throws(SystemFailure) { file = Mutex(try path.map { path throws(SystemFailure) in try AuditFile(path) }) } catch {
            throw .auditLogUnusable(Self.text(error))
        }
    }

    deinit { file.withLock { $0?.close() } }

    private static func text(_ failure: SystemFailure) -> String {
        "the audit log \(failure.path) cannot be written: \(failure.reason). Make room, or name a file that the server may write"
    }

    private var now: TimeReading {
        TimeReading(wall: environment.wallMilliseconds(), monotonic: environment.monotonicNanoseconds() / 1_000_000)
    }

    // MARK: Events

    /// A record of the present time.
    func event(_ event: AuditEvent, detail: String? = nil) -> AuditRecord {
        var record = AuditRecord(event, time: environment.wallMilliseconds())
        record.detail = detail
        return record
    }

    /// Writes a record.
    ///
    /// - Parameter completion: called at once, or from another thread if the log is required.
    func record(_ record: AuditRecord, then completion: Completion? = nil) {
        guard hasFile else { return completion?(true) ?? () }
        let admission = state.withLock { $0.queue.add(record, isRequired ? completion : nil) }
        if admission == .start { queue.async { self.drain() } }
        if admission == .lose { fail("\(AuditQueue<Completion>.maximumCount) lines wait to be written") }
        if !isRequired || admission == .lose { completion?(!isRequired) }
    }

    /// Calls back, from any thread, once the log has all earlier records, or cannot be written; at once unless it is required.
    func afterEarlierRecords(_ completion: @escaping Completion) {
        guard hasFile, isRequired else { return completion(true) }
        queue.async { [self] in completion(state.withLock { $0.retry == nil }) }
    }

    /// Notes a refusal. `make` is called for the first one of a group.
    func noteDenial(_ group: DenialLog.Group, _ make: () -> AuditRecord) {
        refusals.first { $0.0 == group.event }?.1.add()
        let now = now
        for record in state.withLock({ $0.denials.note(group, at: now, make) }) { self.record(record) }
    }

    /// Ends the groups of refusals whose minute is over. To be called some times a minute.
    func tick() {
        let now = now.monotonic
        for record in state.withLock({ $0.denials.endGroups(at: now) }) { self.record(record) }
    }

    // MARK: Counts

    /// The latest groups of refusals.
    var denials: [DenialLog.Entry] { state.withLock { $0.denials.latest } }

    /// The lines that were written, those that were not, and whether the log cannot be written now.
    var counts: (written: Int, lost: Int, isFailing: Bool) {
        state.withLock { ($0.queue.written, $0.queue.lostInAll, $0.retry != nil) }
    }

    /// The refusals of each event.
    var refusalCounts: [(event: AuditEvent, count: Int)] { refusals.map { ($0.0, $0.1.value) } }

    // MARK: Life

    /// Writes the first line, and waits for it.
    ///
    /// - Throws: `auditLogUnusable` if the log is required and cannot be written.
    func start() throws(RecordServerError) {
        record(event(.serverStarted))
        queue.sync {}
        if isRequired, state.withLock({ $0.retry != nil }) { throw .auditLogUnusable("the audit log cannot be written, and is required") }
    }

    /// Opens the file again, after it was renamed. If that fails, the present file stays in use. Blocks on the disk.
    func reopen() throws(RecordServerError) {
        do throws(SystemFailure) { try file.withLock { file throws(SystemFailure) in try file?.reopen() } } catch {
            throw .auditLogUnusable(Self.text(error))
        }
        state.withLock { $0.retry = nil }
        queue.async { [self] in if hasFile { _ = write([]) } }
    }

    /// Writes the lines that wait, and closes the file. Blocks on the disk.
    func stop() {
        for record in state.withLock({ $0.denials.endGroups(at: .max) }) { self.record(record) }
        record(event(.serverStopped))
        queue.sync {}
        file.withLock { file in
            file?.close()
            file = nil
        }
    }

    // MARK: Writing

    private func drain() {
        while true {
            let lines = state.withLock { $0.queue.take() }
            guard !lines.isEmpty else { return }
            let isWritten = write(lines.map(\.record))
            for line in lines { line.waiter?(isWritten) }
        }
    }

    /// Writes records, after one of those that were lost before. Returns whether all were written.
    private func write(_ records: [AuditRecord]) -> Bool {
        let now = now
        let (loss, mayTry) = state.withLock { ($0.queue.lossRecord(at: now.wall), $0.retry.map { $0 <= now.monotonic } ?? true) }
        guard mayTry else {
            state.withLock { $0.queue.lose(records.count) }
            return false
        }
        var (written, reported) = (0, 0)
        var failure: SystemFailure?
        do throws(SystemFailure) {
            try file.withLock { file throws(SystemFailure) in
                guard file != nil else { throw SystemFailure(code: EBADF) }
                try file?.reopenIfDeleted()
                if let loss {
                    try file?.write(loss.line)
                    reported = loss.count ?? 0
                }
                for record in records {
                    try file?.write(record.line)
                    written += 1
                }
                if isRequired { try file?.synchronize() }
            }
        } catch { failure = error }
        let wasFailing = state.withLock { state in
            defer { state.retry = failure.map { _ in now.monotonic + Self.pause } }
            state.queue.wrote(written, lostBefore: reported)
            state.queue.lose(records.count - written)
            return state.retry != nil
        }
        switch (failure, wasFailing) {
        case (nil, true): logger.notice("the audit log is written again")
        case (let failure?, false):
            logger.error("the audit log stops, and events are lost until it can be written", metadata: ["reason": "\(failure.reason)"])
        default: break
        }
        if let failure { fail(Self.text(failure)) }
        return failure == nil
    }

    private func fail(_ reason: String) {
        if isRequired, !hasFailed.exchange(true, ordering: .relaxed) { onFailure(reason) }
    }
}
