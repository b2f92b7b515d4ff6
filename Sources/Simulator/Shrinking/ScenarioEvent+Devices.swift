extension ScenarioEvent {
    /// The same in a scenario without that device; `nil` if it is about it.
    func without(device gone: Int) -> ScenarioEvent? {
        guard let own = device else { return self }
        guard own != gone else { return nil }
        return own < gone ? self : renamed(to: own - 1)
    }

    /// The same at another device, if it is about one.
    func renamed(to device: Int) -> ScenarioEvent {
        switch self {
        case .write(_, let key, let operation, let conflict): .write(device: device, key, operation, conflict)
        case .read(_, let key): .read(device: device, key)
        case .fetch(_, let keys): .fetch(device: device, keys)
        case .list(_, let collection, let listing): .list(device: device, collection, listing)
        case .retryRejected: .retryRejected(device: device)
        case .discardRejected: .discardRejected(device: device)
        case .evict(_, let key): .evict(device: device, key)
        case .clear: .clear(device: device)
        case .join: .join(device: device)
        case .crash(_, let down): .crash(device: device, down: down)
        case .start: .start(.device(device))
        case .postponeClosures(_, let delay): .postponeClosures(device: device, delay)
        case .follow(_, let collections): .follow(device: device, collections)
        case .copyDisk: .copyDisk(device: device)
        case .replaceDisk: .replaceDisk(device: device)
        case .sleep(_, let duration): .sleep(device: device, duration)
        case .wake: .wake(device: device)
        case .reconnect: .reconnect(device: device)
        case .setClock(_, let change): .setClock(.device(device), by: change)
        case .disk(_, let trouble, let duration): .disk(.device(device), trouble, duration)
        case .partition(_, let direction, let duration): .partition(device: device, direction, duration)
        case .unplug(_, let duration): .unplug(device: device, duration)
        case .heal: .heal(device: device)
        case .slow(_, let duration): .slow(device: device, duration)
        case .intercept(_, let status, let duration): .intercept(device: device, status: status, duration)
        case .cutConnections: .cutConnections(device: device)
        case .messageFault(_, let way, let messageFault): .messageFault(device: device, way, messageFault)
        case .refuse(_, let refusal, let duration): .refuse(device: device, refusal, duration)
        case .grant(_, let access): .grant(device: device, access)
        case .revoke: .revoke(device: device)
        case .expect(let expectation): .expect(expectation.renamed(to: device))
        case .roam(_, let server): .roam(device: device, server: server)
        case .serverWrite, .invalidate, .crashServer, .crashOneServer, .peers, .backUp, .restore, .promote, .compact, .drop, .healAll,
            .settle:
            self
        }
    }
}

extension Expectation {
    fileprivate func renamed(to device: Int) -> Expectation {
        switch self {
        case .shows(_, let key, let bytes): .shows(device: device, key, bytes)
        case .knowsNothing(_, let key): .knowsNothing(device: device, key)
        case .pending(_, let key, let isPending): .pending(device: device, key, isPending)
        case .status(_, let standing): .status(device: device, standing)
        case .server: self
        }
    }
}
