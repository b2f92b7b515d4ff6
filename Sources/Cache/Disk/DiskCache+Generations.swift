internal import FoundationEssentials
internal import FreshetPlatform
internal import Logging
internal import Synchronization

/// Opens generations, and starts new ones. All on the cache's queue, or during its initialisation.
extension DiskCache {
    func folder(_ generation: UInt32) -> String { directory + "/" + DiskGeneration.name(generation) }

    private func openControl() throws -> DiskControl {
        guard let control = shared.withLock({ $0.control }) else { throw CacheError.closed }
        return control
    }

    /// The database of the current generation; opens it if the open one is of an earlier generation.
    func currentDatabase() throws -> DiskDatabase {
        if try !openControl().isInPlace { try reopenDirectory() }
        if shared.withLock({ $0.readsBlocked }) { try reset(.request, unless: nil) }
        guard let generation = try openControl().generation else { throw DiskFailure.damage("the file \(DiskControl.name)") }
        if let database = writing.database, database.generation == generation {
            // Its changes would be seen by no other process, and lost.
            guard database.isInPlace else { throw DiskFailure.damage("\(folder(generation)) was deleted") }
            return database
        }
        try openDatabase(isFirst: false)
        guard let database = writing.database else { throw CacheError.closed }
        return database
    }

    /// Makes the directory again after someone has deleted it.
    private func reopenDirectory() throws {
        let (control, isStale) = try DiskControl.open(directory: directory)
        // The old control file and the readers close when this returns. An awaited read may wait for the lock, but never for the disk.
        let left = shared.withLock { shared in
            defer { shared.control = control }
            return (shared.control, shared.forgetGeneration())
        }
        withExtendedLifetime(left) {}
        writing.database = nil
        removeOldGenerations()
        if isStale { report(.format) } else { report(.damage("\(directory) was deleted")) }
    }

    /// Opens the current generation.
    ///
    /// - Parameter isFirst: whether the cache is reset if the generation has another schema. An instance that is open already throws
    ///   instead, since two programs with different schemas would empty the cache in turns.
    func openDatabase(isFirst: Bool) throws {
        writing.database = nil
        let control = try openControl()
        let wanted = scope.withLock { $0 }
        do {
            let database = try control.locked {
                guard let generation = control.generation else { throw DiskFailure.damage("the file \(DiskControl.name)") }
                return try DiskDatabase(
                    folder: folder(generation), generation: generation, newScope: wanted, largestValue: configuration.byteLimit,
                    logger: configuration.logger)
            }
            if database.scope == wanted {
                writing.database = database
            } else if isFirst {
                try reset(.schema, unless: database.generation)
            } else {
                throw CacheError.schemaChanged(path: directory)
            }
        } catch {
            guard isFirst, case .damage(let reason) = DiskFailure(error, directory) else { throw error }
            try reset(.damage(reason), unless: control.generation)
        }
    }

    /// Replaces a generation in which damage was found; makes the directory again if it is gone.
    func mend(_ reason: String, _ failed: UInt32?) throws {
        guard try openControl().isInPlace else { return try reopenDirectory() }
        try reset(.damage(reason), unless: failed)
    }

    /// Starts an empty generation, and removes all others. Once the number is raised, no process reads an earlier entry.
    ///
    /// - Parameter failed: the generation to replace; if another one is current already, that one is only opened. `nil` replaces any.
    func reset(_ reason: DiskCacheEvent.Reason, unless failed: UInt32?) throws {
        let control = try openControl()
        writing.database = nil
        do {
            let isLate = try control.locked {
                // Another instance has replaced it already.
                if !reason.isForced, let generation = control.generation, generation != failed { return true }
                try DiskGeneration.raise(control, directory)
                return false
            }
            letReadersGo()
            if isLate { return try openDatabase(isFirst: false) }
        } catch {
            // Reads must not return entries that should have been removed. The next call tries again.
            if reason.isForced { shared.withLock { $0.readsBlocked = true } }
            throw error
        }
        staging.forgetFailures()
        removeOldGenerations()
        report(reason)
        try openDatabase(isFirst: false)
    }

    func report(_ reason: DiskCacheEvent.Reason) {
        if reason != .request { counters.restarts.add(1, ordering: .relaxed) }
        let level: Logger.Level =
            switch reason {
            case .damage, .failedWrites: .warning
            case .format, .schema, .request: .info
            }
        configuration.logger.log(level: level, "the cache was reset", metadata: ["directory": "\(directory)", "reason": "\(reason)"])
        broadcast.send(.reset(reason))
    }

    private func letReadersGo() {
        let left = shared.withLock { shared in
            shared.readsBlocked = false
            return shared.forgetGeneration()
        }
        withExtendedLifetime(left) {}
    }

    /// Removes the folders of earlier generations; nobody reads them. Later ones may be another process's.
    func removeOldGenerations() {
        guard let generation = try? openControl().generation else { return }
        do {
            try DiskGeneration.removeAll(before: generation, directory)
        } catch {
            configuration.logger.warning("earlier generations could not be removed", metadata: ["error": "\(error)"])
        }
    }
}

extension DiskCacheEvent.Reason {
    /// Whether the entries must be gone afterwards, whatever another instance has done meanwhile.
    fileprivate var isForced: Bool { self == .request || self == .failedWrites }
}
