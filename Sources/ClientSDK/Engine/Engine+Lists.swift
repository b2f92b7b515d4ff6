internal import FreshetPlatform
internal import FreshetTransport
internal import FreshetWire
internal import HTTPTypes
internal import Logging

/// Lists of collections that this device does not hold completely. The ids come from the server page by page, and the
/// values by the reads of ``fetch(_:mustBeNew:)``, so that they pass the machine's staleness check before they are stored, and
/// show with the device's pending writes over them.
extension Engine {
    /// The progress of reading a list.
    private struct Position {
        let collection: String
        let run: Int
        let clears: Int
        var after: String?
        var isAtEnd = false
        /// The most ids of one page; reduced after a response that was too large.
        var limit = 1_000
        /// The keys of all pages so far.
        var listed: Set<RecordKey> = []
    }

    /// The reason why one page was not read, and whether it may be requested again.
    private struct PageFailure: Error {
        var error: any Error
        var isTransient = true
    }

    /// Whether this device stores the whole collection, once it has caught up.
    nonisolated func holdsAll(of collection: String) -> Bool {
        settings.sync.holdsAll && settings.sync.filter.prefix.isEmpty && settings.sync.filter.includes(collection)
    }

    /// Returns the ids that the server lists or this device holds, with pending writes over them, in the order of
    /// their bytes. Reads values only of records on which the server and this device differ.
    func listIDs(in collection: String) async throws -> [String] {
        var position = position(at: collection)
        while let keys = try await nextPage(&position) {
            _ = try await read(try keys.filter(isAbsent), mustBeNew: true)
        }
        try await verifyUnlisted(position)
        try check(position)
        var ids = try names(in: collection)
        for key in position.listed where !ids.contains(ByteIdentity.Name(text: key.id)) {
            if try !isAbsent(key) { ids.insert(ByteIdentity.Name(text: key.id)) }
        }
        return ids.inOrder
    }

    /// Returns the records that the server lists or this device holds, with pending writes over them, by id.
    ///
    /// - Parameter mustBeNew: whether to read held records again too.
    func list(_ collection: String, mustBeNew: Bool) async throws -> [MemoryTier.Hit] {
        var position = position(at: collection)
        var values: [RecordKey: CachedValue] = [:]
        while let keys = try await nextPage(&position) {
            if !mustBeNew {
                // Held entries may be evicted before the end.
                for key in keys { if try !lacks(key) { values[key] = CachedValue(try shown(key)) } }
            }
            let wanted = keys.filter { values[$0] == nil }
            // A record that the client does not follow may have changed since another caller asked for it.
            let isNew = mustBeNew || !wanted.allSatisfy(settings.sync.covers)
            for value in try await read(wanted, mustBeNew: isNew) { values[value.view.key] = value }
        }
        try await verifyUnlisted(position)
        try check(position)
        return try hits(in: collection, read: values)
    }

    /// Returns the list as shown at its end. A record that was read for the list and has left the device since is
    /// included as it was read.
    private func hits(in collection: String, read values: [RecordKey: CachedValue]) throws -> [MemoryTier.Hit] {
        var hits: [RecordKey: MemoryTier.Hit] = [:]
        for value in try members(of: collection) { hits[value.view.key] = memory.hit(value) }
        for (key, value) in values where hits[key] == nil && value.view.isShown && !value.view.isPending {
            guard try !isAbsent(key), let entry = value.view.entry else { continue }
            // Its later changes are not known.
            hits[key] = MemoryTier.Hit(value: value, freshness: .confirmed(at: entry.verifiedAt))
        }
        return hits.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: Observers

    /// Reads the lists that observers wait for.
    func listForObservers() {
        for collection in unlisted where !listing.contains(collection) {
            unlisted.remove(collection)
            guard observers.watches(collection: collection) else { continue }
            listing.insert(collection)
            Task { [weak self, run] in await self?.listForObservers(collection, run) }
        }
    }

    private func listForObservers(_ collection: String, _ run: Int) async {
        var failure: (any Error)?
        do {
            var position = position(at: collection)
            while let keys = try await nextPage(&position) {
                _ = try await read(try keys.filter { try settings.sync.covers($0) && lacks($0) }, mustBeNew: false)
            }
            try await verifyUnlisted(position)
            // Observers do not know a record that the disk did not take, so nothing else would read it again.
            if let storageFailure, try position.listed.contains(where: { try shown($0).value == .unknown }) { failure = storageFailure }
        } catch {
            failure = error
        }
        guard run == self.run, machine != nil else { return }
        listing.remove(collection)
        defer { showVerification() }
        switch failure {
        case nil:
            readBackoff.reset()
            wrongLists.forget(collection)
            observers.release { $0 == collection }
            // An observer that was added in the meantime may have missed earlier pages.
            listForObservers()
        // The client may be live again since, and then nothing else would begin the list.
        case let error? where error as? ClientError == .cleared: listForObservers()
        case ClientError.unexpectedResponse(let text)? where !wrongLists.note(collection):
            settings.logger.warning("the observed records of \(collection) were not listed: \(text)")
        case let error?:
            unlisted.insert(collection)
            readFailed("the observed records of \(collection) were not listed", error)
        }
    }

    // MARK: Pages

    private func position(at collection: String) -> Position { Position(collection: collection, run: run, clears: clears) }

    private func check(_ position: Position) throws {
        _ = try running()
        guard position.run == run else { throw ClientError.stopped }
        guard position.clears == clears else { throw ClientError.cleared }
    }

    /// Returns the keys of the next page; `nil` after the last. Retries as a read does, for at most the read timeout.
    private func nextPage(_ position: inout Position) async throws -> [RecordKey]? {
        guard !position.isAtEnd else { return nil }
        let deadline = ContinuousClock.now.advanced(by: .milliseconds(min(settings.sync.readTimeout, 86_400_000)))
        var attempt = 0
        while true {
            try check(position)
            // Fails at once while the client is offline, and triggers another attempt to connect.
            _ = try await fetch([], mustBeNew: false)
            do {
                let list = try await page(&position, until: deadline)
                try check(position)
                position.after = list.next
                position.isAtEnd = list.next == nil
                let keys = list.records.map(\.key)
                position.listed.formUnion(keys)
                return keys
            } catch let failure as PageFailure {
                attempt += 1
                let pause = min(settings.sync.firstDelay << min(attempt, 16), settings.sync.longestDelay)
                let next = ContinuousClock.now.advanced(by: .milliseconds(pause))
                guard failure.isTransient, attempt < settings.sync.fetchAttempts, next < deadline else { throw failure.error }
                try await Task.sleep(until: next, clock: .continuous)
            }
        }
    }

    private func page(_ position: inout Position, until deadline: ContinuousClock.Instant) async throws -> RecordList {
        let lowerBound = machine?.state.cursor
        while true {
            let left = max(ContinuousClock.now.duration(to: deadline), .milliseconds(1))
            let path = settings.namespace.listPath(of: position.collection, after: position.after, limit: position.limit, values: false)
            switch try await outcome(of: .get, path, within: min(left, settings.requestTimeout)) {
            case .success(let reply): return try checked(try list(in: reply), from: reply, position, lowerBound)
            case .failure(.tooLarge) where position.limit > 1: position.limit /= 2
            case .failure(.tooLarge(let limit)):
                throw PageFailure(
                    error: ClientError.unexpectedResponse("one id with its record has more than \(limit) bytes"), isTransient: false)
            case .failure(.aborted):
                try check(position)
                throw PageFailure(error: ClientError.unreachable("the connection was closed"))
            case .failure(let error): throw PageFailure(error: ClientError.unreachable(error.description))
            }
        }
    }

    private func list(in reply: HTTPReply) throws -> RecordList {
        switch reply.status {
        case 200 where reply.fields[.freshetCursor] != nil && Content.isJSON(reply.fields[.contentType] ?? ""):
            do { return try RecordList(json: reply.body) } catch {
                throw PageFailure(error: ClientError.unexpectedResponse(error.description))
            }
        case 401: throw PageFailure(error: ClientError.unauthorized, isTransient: false)
        case 400...:
            switch ReplyDecoder.problem(in: reply) {
            case .success(let problem):
                let isTransient = problem.status >= 500 || [408, 425, 429].contains(problem.status)
                throw PageFailure(error: ClientError.refused(problem), isTransient: isTransient)
            case .failure(let failure): throw PageFailure(error: ClientError(failure))
            }
        default: throw PageFailure(error: ClientError(.intercepted(ReplyDecoder.intercepted(reply, "it is no list of a Freshet server"))))
        }
    }

    /// Returns the page if it is from the device's store and history, and no older than the device's position at the
    /// request.
    private func checked(_ list: RecordList, from reply: HTTPReply, _ position: Position, _ lowerBound: Cursor?) throws -> RecordList {
        guard let state = machine?.state else { throw ClientError.stopped }
        var binding = StoreBinding(state.store)
        let store = reply.fields[.freshetStore].flatMap { StoreIdentifier($0) }
        if case .refused(let failure) = binding.check(.noChange(list.cursor), from: store, knownEpoch: state.epoch, settings.sync) {
            throw PageFailure(error: ClientError(failure), isTransient: false)
        }
        // The feed will soon find another history.
        if let epoch = state.epoch, list.cursor.epoch != epoch { throw PageFailure(error: ClientError.outdated) }
        if let lowerBound, lowerBound.epoch == list.cursor.epoch, list.cursor.revision < lowerBound.revision {
            throw PageFailure(error: ClientError.outdated)
        }
        guard list.records.allSatisfy({ $0.key.collection == position.collection }) else {
            throw PageFailure(error: ClientError.unexpectedResponse("the list has records of another collection"), isTransient: false)
        }
        // Otherwise a list would have no end.
        if let next = list.next, let after = position.after, !after.utf8.lexicographicallyPrecedes(next.utf8) {
            throw PageFailure(error: ClientError.unexpectedResponse("the list's next page is not after this one"), isTransient: false)
        }
        return list
    }

    // MARK: Records

    /// Reads the records in batches, each with the timeout of a read.
    func read(_ keys: [RecordKey], mustBeNew: Bool) async throws -> [CachedValue] {
        var values: [CachedValue] = []
        var rest = keys[...]
        while !rest.isEmpty {
            values += try await fetch(Array(rest.prefix(settings.sync.fetchKeys)), mustBeNew: mustBeNew).map(\.value)
            rest = rest.dropFirst(settings.sync.fetchKeys)
        }
        return values
    }

    /// Reads held records that no page had: they came after their page was read, or they are gone and no change has
    /// reported this yet.
    private func verifyUnlisted(_ position: Position) async throws {
        let held = try ids(in: position.collection).compactMap { try? RecordKey(collection: position.collection, id: $0) }
        let unlisted = held.filter { !position.listed.contains($0) && memory.peek($0)?.view.isPending != true }
        _ = try await read(unlisted, mustBeNew: true)
    }

    /// Returns the key's view on this device.
    private func shown(_ key: RecordKey) throws -> KeyView { try memory.peek(key)?.view ?? view(of: key, stored: try stored(key)) }

    /// Whether this device shows that there is no record.
    private func isAbsent(_ key: RecordKey) throws -> Bool { try shown(key).value == .absent }

    /// Whether a listed record has to be read: its value is not on this device, or the device shows that there is none.
    private func lacks(_ key: RecordKey) throws -> Bool {
        let view = try shown(key)
        switch view.value {
        case .content: return false
        case .unknown, .elsewhere: return true
        case .absent: return !view.isPending
        }
    }
}
