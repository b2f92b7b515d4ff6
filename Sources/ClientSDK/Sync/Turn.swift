import FreshetWire

/// The work on one event: the settings, the time and the random bits of the event, and the decisions so far.
struct Turn: Sendable {
    let settings: SyncSettings
    let now: EventContext
    private(set) var actions: [SyncAction] = []
    private(set) var notes: [HistoryEvent] = []
    private var random: SeededRandom

    init(_ settings: SyncSettings, _ now: EventContext) {
        self.settings = settings
        self.now = now
        random = SeededRandom(now.random)
    }

    mutating func emit(_ action: SyncAction) { actions.append(action) }

    mutating func complete(_ callerIDs: [CallerID], _ result: CallResult) {
        for callerID in callerIDs { actions.append(.complete(callerID, result)) }
    }

    /// Removes the answers to these callers, and returns them in order.
    mutating func takeAnswers(to isCaller: (CallerID) -> Bool) -> [(CallerID, CallResult)] {
        var answers: [(CallerID, CallResult)] = []
        actions.removeAll { action in
            guard case .complete(let callerID, let result) = action, isCaller(callerID) else { return false }
            answers.append((callerID, result))
            return true
        }
        return answers
    }

    mutating func note(_ scope: InvalidationScope, _ kind: HistoryEvent.Kind) {
        notes.append(HistoryEvent(at: now.wall, scope: scope, kind: kind))
    }

    mutating func note(_ notes: [HistoryEvent]) { self.notes += notes }

    /// Makes room for so many notes more.
    mutating func reserveNotes(_ count: Int) { notes.reserveCapacity(notes.count + count) }

    mutating func log(_ level: LogLine.Level, _ text: String) { actions.append(.log(LogLine(level, text))) }

    /// Returns how long to wait after one more failure, in milliseconds.
    mutating func delay(_ backoff: inout Backoff, retryAfter: Int64? = nil) -> Int64 {
        backoff.next(settings, &random, retryAfter: retryAfter)
    }

    /// Puts the actions into the order in which they are carried out, with the status if it has changed.
    ///
    /// A request depends only on data that is on disk already, so it precedes a transaction decided in the same turn;
    /// a request with writes precedes the observers too. The status precedes answers and verdicts: a caller that gets
    /// a verdict and then reads the status finds the write in it.
    mutating func finish(status: SyncStatus?) -> [SyncAction] {
        if let transaction = actions.firstIndex(where: \.isCommit), actions[transaction...].contains(where: \.isRequest) {
            let late = actions[transaction...].filter(\.isRequest)
            actions[transaction...].removeAll(where: \.isRequest)
            actions.insert(contentsOf: late, at: transaction)
        }
        if let place = actions.firstIndex(where: \.sendsWrites), place > 0 { actions.insert(actions.remove(at: place), at: 0) }
        if let status {
            let completions = actions.filter(\.completesCall)
            actions.removeAll(where: \.completesCall)
            actions.append(.status(status))
            actions += completions
        }
        return actions
    }
}
