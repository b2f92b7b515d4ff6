internal import FreshetWire

/// Lists of collections that this device does not hold completely. The machine makes them; see ``Lister``.
extension Engine {
    /// Whether this device stores the whole collection, once it has caught up.
    nonisolated func holdsAll(of collection: String) -> Bool {
        settings.sync.holdsAll && settings.sync.filter.prefix.isEmpty && settings.sync.filter.includes(collection)
    }

    /// Returns the ids that the server lists or this device holds, with pending writes over them, in the order of their bytes. Reads values
    /// only of records on which the server and this device differ.
    func listIDs(in collection: String) async throws -> [String] {
        try await answer(Caller.ids) { .list(ListRequest(callerID: $0, collection: collection, purpose: .ids)) }
    }

    /// Returns the records that the server lists or this device holds, with pending writes over them, by id.
    ///
    /// - Parameter mustBeNew: whether to read held records again too.
    func list(_ collection: String, mustBeNew: Bool) async throws -> [MemoryTier.Hit] {
        let purpose = ListRequest.Purpose.records(mustBeNew: mustBeNew)
        while true {
            let hits = try await answer(Caller.list) { .list(ListRequest(callerID: $0, collection: collection, purpose: purpose)) }
            // A record has left the device between the machine's look at the disk and this one.
            if let hits { return hits }
        }
    }

    /// Returns the records of a list as they are shown now; `nil` if one is not on this device any more.
    func hits(_ held: [RecordKey], _ read: [KeyView]) throws -> [MemoryTier.Hit]? {
        // The later changes of records that left the device are not known.
        var hits = read.map { MemoryTier.Hit(value: CachedValue($0), freshness: $0.entry.map { .confirmed(at: $0.verifiedAt) }) }
        for key in held {
            let value = try memory.peek(key) ?? CachedValue(view(of: key, stored: try stored(key)))
            guard value.view.value != .unknown || value.view.isPending else { return nil }
            if value.view.isShown { hits.append(memory.hit(value)) }
        }
        return hits.sorted { $0.value.view.key < $1.value.view.key }
    }

    /// Hands the machine a read for a list. A row that the disk does not give is not compared.
    func read(_ keys: [RecordKey], for callerID: CallerID) {
        let items = keys.map { FetchRequest.Item(key: $0, known: try? known($0)) }
        submit(.fetch(FetchRequest(callerID: callerID, items: items, mustBeNew: true)))
    }

    /// Reads the records in batches, each with the timeout of a read.
    func read(_ keys: [RecordKey], mustBeNew: Bool) async throws {
        var rest = keys[...]
        while !rest.isEmpty {
            _ = try await fetch(Array(rest.prefix(settings.sync.fetchKeys)), mustBeNew: mustBeNew)
            rest = rest.dropFirst(settings.sync.fetchKeys)
        }
    }

    // MARK: Observers

    /// Lists the collections that observers wait for. An observer that was added during a list may have missed records: another list follows.
    func listForObservers() {
        for collection in unlisted where listing[collection] == nil {
            unlisted.remove(collection)
            guard observers.watches(collection: collection) else { continue }
            let callerID = nextCallerID()
            (listing[collection], callers[callerID]) = (callerID, .observers(collection))
            submit(.list(ListRequest(callerID: callerID, collection: collection, purpose: .observers)))
        }
    }

    /// Ends the list of a collection that has no observer any more.
    func abandonList(of collection: String) {
        guard !observers.watches(collection: collection), let callerID = listing.removeValue(forKey: collection) else { return }
        callers[callerID] = nil
        submit(.abandon(callerID))
    }

    func listEnded(_ collection: String) {
        listing[collection] = nil
        listForObservers()
        showVerification()
    }
}
