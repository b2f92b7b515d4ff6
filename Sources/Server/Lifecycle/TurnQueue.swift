import DequeModule

/// Work that waits and runs, in turns by sender: the work of one sender is in order, and delays each other sender by one item at a
/// time. Needs no threads.
///
/// Each operation takes constant time, however much waits. `nil` is the server itself: a sender like others, but without a limit.
struct TurnQueue<Sender: Hashable, Work> {
    fileprivate struct Items {
        var waiting = Deque<(work: Work, isCounted: Bool)>()
        /// The number of items that run or wait.
        var pending = 0
        /// The number of those that count for the limits.
        var counted = 0
    }

    private let limit: Int
    private let senderLimit: Int
    /// By sender, as long as an item of it runs or waits.
    private var items: [Sender?: Items] = [:]
    /// The senders of which an item waits, each once, in the order of their turns.
    private var turns = Deque<Sender?>()
    private var urgent = Deque<Work>()
    /// The number of items that wait.
    private(set) var waiting = 0
    /// The number of items that run or wait.
    private(set) var pending = 0
    /// The number of those that count for the limits.
    private var counted = 0

    /// - Parameters:
    ///   - limit: how many items may run or wait.
    ///   - senderLimit: how many items of one sender may run or wait.
    init(limit: Int, senderLimit: Int) {
        self.limit = limit
        self.senderLimit = senderLimit
    }

    /// The number of senders of which an item runs or waits.
    var senders: Int { items.count }

    /// Adds an item behind the others of its sender.
    ///
    /// - Parameters:
    ///   - isContinuation: whether it continues an item that was accepted, and so must not be refused.
    ///   - isCounted: whether other items may be refused because of it.
    /// - Returns: false if too much runs or waits, in all or of the sender; then the item is not added.
    mutating func add(_ work: Work, of sender: Sender?, isContinuation: Bool = false, isCounted: Bool = true) -> Bool {
        guard isContinuation || counted < limit && hasRoom(for: sender) else { return false }
        count(sender, isCounted)
        let isFirst = items[sender]?.waiting.isEmpty ?? true
        items[sender]?.waiting.append((work, isCounted))
        if isFirst { turns.append(sender) }
        return true
    }

    /// Adds an item of the server itself, before all others that are not urgent. It is never refused.
    mutating func addUrgent(_ work: Work) {
        count(nil, true)
        urgent.append(work)
    }

    /// Removes the next item, which runs now; `nil` if none waits. ``finish(_:isCounted:)`` ends it.
    mutating func next() -> (work: Work, sender: Sender?, isCounted: Bool)? {
        if let work = urgent.popFirst() {
            waiting -= 1
            return (work, nil, true)
        }
        guard let sender = turns.popFirst(), let item = items[sender]?.waiting.popFirst() else { return nil }
        waiting -= 1
        if items[sender]?.waiting.isEmpty == false { turns.append(sender) }
        return (item.work, sender, item.isCounted)
    }

    /// Ends an item of the sender that ran.
    mutating func finish(_ sender: Sender?, isCounted: Bool = true) {
        pending -= 1
        items[sender]?.pending -= 1
        if isCounted {
            counted -= 1
            items[sender]?.counted -= 1
        }
        if items[sender]?.pending == 0 { items.removeValue(forKey: sender) }
    }

    private func hasRoom(for sender: Sender?) -> Bool { sender == nil || (items[sender]?.counted ?? 0) < senderLimit }

    private mutating func count(_ sender: Sender?, _ isCounted: Bool) {
        pending += 1
        waiting += 1
        items[sender, default: Items()].pending += 1
        guard isCounted else { return }
        counted += 1
        items[sender]?.counted += 1
    }
}

extension TurnQueue.Items: Sendable where Work: Sendable {}

extension TurnQueue: Sendable where Sender: Sendable, Work: Sendable {}
