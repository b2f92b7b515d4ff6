/// One thing that can happen in a small world.
///
/// Devices and keys are given by their numbers, requests by their place among those of the device.
package enum SmallMove: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of moves that the bound on events and the limits of a world count. ``SmallMove/kind`` is `nil` for moves that follow
    /// without a choice.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case write, exchange, read, crash, clear, epoch, foreign, fault, wake, eviction
    }

    /// The disk carries out the next transaction and reports it.
    case commit(device: Int)
    /// The disk answers the next query for held keys.
    case query(device: Int)
    /// The user's closure resolves a conflict.
    case merge(device: Int)
    /// Time passes until the end of a back-off.
    case timer(device: Int)
    /// A response arrives.
    case arrive(device: Int, call: Int)

    /// The device writes, by the place among its operations.
    case write(device: Int, operation: Int)
    case read(device: Int, key: Int)
    /// The server takes a request and answers it; the response sets out.
    case exchange(device: Int, call: Int)
    /// A request arrives twice: now, and once more at any later time.
    case duplicate(device: Int, call: Int)
    /// A request that the device has given up arrives after all.
    case lateRequest(device: Int, place: Int)
    /// The connection breaks. The device notices it; the request may be at the server or still arrive.
    case cut(device: Int, call: Int)
    /// The disk refuses the next transaction.
    case diskFails(device: Int)
    /// The process dies and starts again; the transaction under way is on disk, or is not.
    case crash(device: Int, commits: Bool)
    case clear(device: Int)
    case wake(device: Int)
    case evict(device: Int, key: Int)
    /// The namespace is dropped.
    case drop
    /// The back-up of the beginning is restored.
    case restore
    /// The namespace continues unchanged, under a new epoch.
    case renew
    /// Someone without a cache writes, deletes or invalidates.
    case foreignPut(key: Int)
    case foreignDelete(key: Int)
    case invalidate(key: Int)
    case invalidateAll

    /// What the move counts as; `nil` for a step that the environment does not choose.
    package var kind: Kind? {
        switch self {
        case .commit, .query, .merge, .timer, .arrive: nil
        case .write: .write
        case .read: .read
        case .exchange, .lateRequest: .exchange
        case .duplicate, .cut, .diskFails: .fault
        case .crash: .crash
        case .clear: .clear
        case .wake: .wake
        case .evict: .eviction
        case .drop, .restore, .renew: .epoch
        case .foreignPut, .foreignDelete, .invalidate, .invalidateAll: .foreign
        }
    }

    /// The device whose move it is, if it concerns nothing but that device: it commutes with all that others and the server do.
    var place: Int? {
        switch self {
        case .commit(let device), .query(let device), .merge(let device), .timer(let device), .arrive(let device, _),
            .write(let device, _), .cut(let device, _), .diskFails(let device), .crash(let device, _), .clear(let device),
            .wake(let device), .evict(let device, _):
            device
        case .read, .exchange, .duplicate, .lateRequest, .drop, .restore, .renew, .foreignPut, .foreignDelete, .invalidate,
            .invalidateAll:
            nil
        }
    }

    package var description: String {
        switch self {
        case .commit(let device): "\(Self.name(device)): the disk commits"
        case .query(let device): "\(Self.name(device)): the disk lists the held keys"
        case .merge(let device): "\(Self.name(device)): the closure merges"
        case .timer(let device): "\(Self.name(device)): the back-off ends"
        case .arrive(let device, let call): "\(Self.name(device)): the response to request \(call) arrives"
        case .write(let device, let operation): "\(Self.name(device)): write of kind \(operation)"
        case .read(let device, let key): "\(Self.name(device)): read of key \(key)"
        case .exchange(let device, let call): "server: answers request \(call) of \(Self.name(device))"
        case .duplicate(let device, let call): "server: answers request \(call) of \(Self.name(device)), which arrives again later"
        case .lateRequest(let device, let place): "server: takes the late batch \(place) of \(Self.name(device))"
        case .cut(let device, let call): "\(Self.name(device)): the connection of request \(call) breaks"
        case .diskFails(let device): "\(Self.name(device)): the disk refuses"
        case .crash(let device, let commits): "\(Self.name(device)): crashes\(commits ? ", the transaction is on disk" : "")"
        case .clear(let device): "\(Self.name(device)): is cleared"
        case .wake(let device): "\(Self.name(device)): wakes"
        case .evict(let device, let key): "\(Self.name(device)): evicts key \(key)"
        case .drop: "server: the namespace is dropped"
        case .restore: "server: the back-up is restored"
        case .renew: "server: a new epoch"
        case .foreignPut(let key): "server: someone puts key \(key)"
        case .foreignDelete(let key): "server: someone deletes key \(key)"
        case .invalidate(let key): "server: someone invalidates key \(key)"
        case .invalidateAll: "server: someone invalidates everything"
        }
    }

    private static func name(_ device: Int) -> String { device == 0 ? "A" : device == 1 ? "B" : "device \(device)" }
}
