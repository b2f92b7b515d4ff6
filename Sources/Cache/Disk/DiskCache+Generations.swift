internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// Opening generations, and beginning new ones. All on the cache's queue, or before anyone else knows the cache.
extension DiskCache {
    func folder(_ generation: UInt32) -> String { directory + "/" + DiskGeneration.name(generation) }

    private func openControl() throws -> DiskControl {
        guard let control = shared.withLock({ $0.control }) else { throw CacheError.closed }
        return control
    }

    /// The database of the generation that holds now, opened anew if another one held before.
    func currentDatabase() throws -> DiskDatabase {
        if try !openControl().isInPlace { try reopenDirectory() }
        if shared.withLock({ $0.isBlind }) { try startAnew(.request, unless: nil) }
        guard let generation = try openControl().generation else { throw DiskFailure.damage("the file \(DiskControl.name)") }
        if let database = writing.database, database.generation == generation { return database }
        try openDatabase(isFirst: false)
        guard let database = writing.database else { throw CacheError.closed }
        return database
    }

    /// Someone has deleted the directory: it is made anew.
    private func reopenDirectory() throws {
        let (control, isStale) = try DiskControl.open(directory: directory)
        let left = shared.withLock { shared in
            shared.control = control
            return shared.forgetGeneration()
        }
        withExtendedLifetime(left) {}
        writing.database = nil
        if isStale { tell(.format) } else { tell(.damage("\(directory) was deleted")) }
    }

    /// Opens the generation that holds now.
    ///
    /// - Parameter isFirst: whether a generation of another schema is begun anew. Later it is not: two programs that do not agree would
    ///   empty it in turns.
    func openDatabase(isFirst: Bool) throws {
        writing.database = nil
        let control = try openControl()
        let wanted = scope.withLock { $0 }
        do {
            let database = try control.locked {
                guard let generation = control.generation else { throw DiskFailure.damage("the file \(DiskControl.name)") }
                return try DiskDatabase(folder: folder(generation), generation: generation, newScope: wanted)
            }
            if database.scope == wanted {
                writing.database = database
            } else if isFirst {
                try startAnew(.schema, unless: database.generation)
            } else {
                throw CacheError.schemaChanged(path: directory)
            }
        } catch {
            guard isFirst, case .damage(let reason) = DiskFailure(error, directory) else { throw error }
            try startAnew(.damage(reason), unless: control.generation)
        }
    }

    /// Makes an empty generation hold, and removes all others. From the moment at which the number is raised nobody reads what was before.
    ///
    /// - Parameter failed: the generation that is to be left; if another one holds already, it is only opened. `nil` for whichever.
    func startAnew(_ reason: DiskCacheEvent.Reason, unless failed: UInt32?) throws {
        let control = try openControl()
        writing.database = nil
        do {
            let isLate = try control.locked {
                // Someone else was quicker.
                if reason != .request, let generation = control.generation, generation != failed { return true }
                try DiskGeneration.raise(control, directory)
                return false
            }
            letReadersGo()
            if isLate { return try openDatabase(isFirst: false) }
        } catch {
            // Readers shall not go on with what was to go; the next call tries again.
            if reason == .request { shared.withLock { $0.isBlind = true } }
            throw error
        }
        staging.forgetFailures()
        removeOldGenerations()
        tell(reason)
        try openDatabase(isFirst: false)
    }

    func tell(_ reason: DiskCacheEvent.Reason) {
        if reason != .request { counters.restarts.add(1, ordering: .relaxed) }
        let level: Logger.Level = if case .damage = reason { .warning } else { .info }
        configuration.logger.log(level: level, "the cache begins anew", metadata: ["directory": "\(directory)", "reason": "\(reason)"])
        hub.send(.startedAnew(reason))
    }

    private func letReadersGo() {
        let left = shared.withLock { shared in
            shared.isBlind = false
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
            configuration.logger.warning("what the cache held before could not be removed", metadata: ["error": "\(error)"])
        }
    }
}
