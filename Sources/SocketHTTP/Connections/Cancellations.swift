/// The actions to perform when a peer disconnects before its answers, by request.
struct Cancellations: Sendable {
    /// An action. A listener and its number need no allocation for each waiting request, unlike a closure.
    enum Action: Sendable {
        case call(@Sendable () -> Void)
        case notify(any DisconnectListener, UInt64)

        func perform() {
            switch self {
            case .call(let body): body()
            case .notify(let listener, let number): listener.peerDisconnected(number)
            }
        }
    }

    private struct Entry: Sendable {
        let number: UInt32
        let isForDisconnect: Bool
        let action: Action
    }

    /// Actions that are no longer kept: to be released, or called, outside the lock.
    struct Removed: Sendable {
        fileprivate var first: Action?
        fileprivate var others: [Action] = []
    }

    private(set) var isPeerGone = false
    private var isInputEnded = false
    /// Whether the peer has disconnected or ended its input.
    var isDisconnected: Bool { isPeerGone || isInputEnded }
    /// A separate property, since most connections have one request at a time, with one action.
    private var first: Entry?
    private var others: [Entry] = []

    /// Adds an action; returns false if it is too late and the action must be called now.
    ///
    /// - Parameter isForDisconnect: whether the end of the peer's input is enough to call it.
    mutating func add(_ action: Action, for number: UInt32, isForDisconnect: Bool) -> Bool {
        guard !isPeerGone, !(isForDisconnect && isInputEnded) else { return false }
        let entry = Entry(number: number, isForDisconnect: isForDisconnect, action: action)
        if first == nil { first = entry } else { others.append(entry) }
        return true
    }

    mutating func inputHasEnded() -> [Action] {
        isInputEnded = true
        return take(where: \.isForDisconnect).all
    }

    /// Removes and returns the actions of a request, so that they are released outside the lock.
    mutating func remove(_ number: UInt32) -> Removed {
        // The usual case, in which the action never has a second owner.
        if others.isEmpty { return Removed(first: first?.number == number ? first.take()?.action : nil) }
        return take { $0.number == number }
    }

    mutating func peerHasGone() -> [Action] {
        isPeerGone = true
        return take { _ in true }.all
    }

    private mutating func take(where isTaken: (Entry) -> Bool) -> Removed {
        var removed = Removed()
        if let entry = first, isTaken(entry) {
            removed.first = entry.action
            first = nil
        }
        guard !others.isEmpty else { return removed }
        removed.others = others.filter(isTaken).map(\.action)
        others.removeAll(where: isTaken)
        return removed
    }
}

extension Cancellations.Removed {
    /// All actions, in the order in which they are to be called.
    fileprivate var all: [Cancellations.Action] { (first.map { [$0] } ?? []) + others }
}
