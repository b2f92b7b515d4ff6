internal import Dispatch
internal import FoundationEssentials
internal import FreshetPlatform
internal import Logging
internal import Synchronization

/// Bytes by key in a directory, that outlive the process: one SQLite file for small values, and a file each for large ones.
///
/// Safe from any thread, and from several processes on one directory. Each value carries a checksum that binds it to its key and to its
/// lifetime: a damaged entry is a miss, never a wrong value. If the whole file is damaged or was deleted, the cache is reset to an
/// empty one; ``events`` and the log report it.
///
/// A loss of power, or damage to SQLite's log, may undo the newest changes: then an entry is missing, and one that was overwritten or
/// removed is there again. Only ``removeAll()`` and ``invalidateEverything(schema:)`` wait until the disk has the change.
///
/// ```swift
/// let cache = try await DiskCache.open("/var/cache/pictures")
/// try await cache.setValue(bytes, forKey: "cat.png", lifetime: .after(.seconds(3_600)), tags: ["animals"])
/// let value = try await cache.value(forKey: "cat.png")?.bytes
/// ```
///
/// All work that waits for the disk runs on the cache's private queues; a value in memory is read on the caller's thread.
/// Reads use separate connections, and wait for no writer. Concurrent writes reach the disk in one transaction.
public final class DiskCache: Sendable {
    struct Shared {
        /// `nil` once the cache is closed.
        var control: DiskControl?
        /// The generation that the idle readers read; `nil` if the next read must open a connection.
        var generation: UInt32?
        var idle: [DiskReader] = []
        /// Readers that cannot be used again, and that their last users could not wait to close.
        var retired: [DiskReader] = []
        /// A generation that this instance may not read, since it has another schema.
        var otherGeneration: UInt32?
        /// Emptying the cache failed: reads miss until it succeeds.
        var readsBlocked = false

        /// Forgets the open generation, and returns its idle readers. Release them outside of the lock: that closes their connections.
        mutating func forgetGeneration() -> [DiskReader] {
            (generation, otherGeneration) = (nil, nil)
            defer { idle = [] }
            return idle
        }
    }

    /// The writing side's state.
    ///
    /// `@unchecked Sendable`: only closures on the cache's serial queue touch it.
    final class Writing: @unchecked Sendable {
        var database: DiskDatabase?
        var drains = 0
        var folder = Int.random(in: 0..<DiskFiles.folders)
        var nextPurge: Int64 = .min
    }

    /// Where the cache is, an absolute path: one that was relative began at the working directory when the cache was opened.
    public let directory: String
    let configuration: Configuration
    let queue = DispatchQueue(label: "freshet.cache.disk")
    let readQueues = [DispatchQueue(label: "freshet.cache.disk.read.0"), DispatchQueue(label: "freshet.cache.disk.read.1")]
    let nextReadQueue = Atomic(0)
    let scope: Mutex<String>
    let shared: Mutex<Shared>
    let staging = DiskStaging()
    let counters = DiskCounters()
    let broadcast = Broadcast<DiskCacheEvent>(keepingLatest: 256)
    let writing = Writing()
    /// Uses of rows that are not on the disk yet, collected from the readers.
    let accessLog = Mutex(AccessLog())

    /// Opens a cache, and makes its directory if there is none; the time does not grow with what it holds. Waits for the disk: call it
    /// from a thread of your own, and ``open(_:_:)`` elsewhere.
    ///
    /// - Throws: ``CacheError``: the path cannot be used, or the directory is something else's, cannot be written, or has no room.
    public init(directory: String, _ configuration: Configuration = Configuration()) throws(CacheError) {
        let directory = try AbsolutePath(ofCache: directory).text
        self.directory = directory
        self.configuration = configuration
        scope = Mutex(configuration.schema)
        let (control, isStale) = try DiskControl.open(directory: directory)
        shared = Mutex(Shared(control: control))
        do {
            if isStale { report(.format) }
            if control.generation == nil {
                try reset(.damage("the file \(DiskControl.name)"), unless: nil)
            } else {
                try openDatabase(isFirst: true)
            }
        } catch {
            switch DiskFailure(error, directory) {
            case .damage(let reason): throw .storageFailed(path: directory, reason: reason)
            case .cache(let error): throw error
            }
        }
        queue.async { [weak self] in self?.removeOldGenerations() }
    }

    deinit {
        broadcast.finish()
        // The last connection to close waits for the disk, so it closes on the queue, not on the thread that releases the cache.
        let (writing, idle) = (writing, shared.withLock { $0.idle })
        queue.async {
            writing.database = nil
            withExtendedLifetime(idle) {}
        }
    }

    /// Opens a cache without blocking the caller's thread; see ``init(directory:_:)``.
    public static func open(_ directory: String, _ configuration: Configuration = Configuration()) async throws(CacheError) -> DiskCache {
        let opened: Result<DiskCache, CacheError> = await withCheckedContinuation { continuation in
            // Not on a global queue: on Linux its threads are those of the cooperative pool.
            DispatchQueue(label: "freshet.cache.disk.open").async {
                continuation.resume(
                    returning: Result { () throws(CacheError) in try DiskCache(directory: directory, configuration) })
            }
        }
        return try opened.get()
    }

    /// The events from now on, for as long as the stream is consumed. It buffers at most 256 events, and then drops the oldest.
    public var events: AsyncStream<DiskCacheEvent> { broadcast.stream() }

    /// Writes the staged changes, then closes the directory. Later calls fail with ``CacheError/closed``.
    public func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.drain(through: self.staging.lastOrder)
                self.writeAccesses()
                self.closeConnections()
                self.broadcast.finish()
                continuation.resume()
            }
        }
    }

    /// Closes all connections but those of reads under way. The last one to close moves the log into the database.
    private func closeConnections() {
        writing.database?.checkpointer.close()
        writing.database = nil
        let left = shared.withLock { shared in
            defer { (shared.control, shared.idle) = (nil, []) }
            return (shared.control, shared.idle)
        }
        // They close when this returns. An awaited read may wait for the lock, but never for the disk.
        withExtendedLifetime(left) {}
    }

    var now: Int64 { configuration.clock.wall() }

    /// Runs the closure on the cache's queue, after all changes that were staged before.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws(CacheError) -> Value {
        let last = staging.lastOrder
        let result: Result<Value, CacheError> = await withCheckedContinuation { continuation in
            queue.async {
                self.drain(through: last)
                let isClosed = self.shared.withLock { $0.control == nil }
                continuation.resume(returning: isClosed ? .failure(.closed) : self.guarded(body))
            }
        }
        return try result.get()
    }

    /// Runs the closure, on the queue. If it finds damage, the cache is reset and the closure runs once more. It also runs again if another
    /// instance emptied the directory meanwhile, since it then met half-removed folders.
    func guarded<Value>(_ body: () throws -> Value) -> Result<Value, CacheError> {
        var isMended = false
        var left = 0
        while true {
            do {
                return .success(try body())
            } catch {
                let failure = DiskFailure(error, directory)
                if let generation = writing.database?.generation, hasLeft(generation), left < Self.mostLeft {
                    left += 1
                    writing.database = nil
                    continue
                }
                switch failure {
                case .cache(let error): return .failure(error)
                case .damage(let reason):
                    let failed = writing.database?.generation ?? shared.withLock { $0.control?.generation }
                    if isMended { return .failure(.storageFailed(path: directory, reason: reason)) }
                    isMended = true
                    do { try mend(reason, failed) } catch { return .failure(asCacheError(error)) }
                }
            }
        }
    }

    /// How often a closure is retried because other instances emptied the cache while it ran.
    private static let mostLeft = 16

    /// Whether the generation is no longer the current one: an error in it then says nothing about the cache.
    func hasLeft(_ generation: UInt32) -> Bool { shared.withLock { $0.control?.generation } != generation }

    func asCacheError(_ error: any Error) -> CacheError {
        switch DiskFailure(error, directory) {
        case .cache(let error): error
        case .damage(let reason): .storageFailed(path: directory, reason: reason)
        }
    }
}
