import FreshetWire
import Testing

@testable import FreshetClient

/// A search that takes two states for one misses the states after the second; one that takes one for two takes too long.
@Suite struct FingerprintTests {
    /// The stored properties of the machine's parts. By default a new property is compared as it is. It must be added here, and to
    /// `makeRelative` of its part if it is a time, or a number that only distinguishes requests or transactions.
    private static let parts: [String: (compared: Set<String>, relativeOrLeftOut: Set<String>)] = [
        // Left out: properties that never change, that have no effect, or that follow from the core.
        "SyncMachine": (["core"], ["settings", "history", "uptime", "lastStatus", "lastSchedule"]),
        "SyncCore": (["settings", "phase", "isRenaming"], ["parts"]),
        "SyncParts": (
            ["reachability", "binding"],
            [
                "local", "requests", "follower", "sender", "reader", "revalidator", "refresher", "lister", "merger", "resetter",
                "verifications",
            ]
        ),
        "LocalState": (["state", "writes", "unstored", "rejected", "holdsRecords"], ["transactions", "firstCopy"]),
        "RejectionList": (["entries", "bytes"], []),
        "Outbox": (["keys", "queue", "awaitingBase", "merging", "displaced", "firstDisplaced"], []),
        "UnstoredWrites": (["queue", "writeBases"], []),
        "Transactions": (["inputs"], ["current", "last"]),
        "UnderWay": (["plan"], ["id"]),
        "TransactionPlan": (
            [
                "onCommit", "entries", "state", "rejections", "clear", "staged", "stagedIndices", "decided",
                "outcomes",
                "notes", "outdatesReads", "lowerBounds", "removesRecords", "repeatsPass",
            ], []
        ),
        "RequestTable": ([], ["generation", "requests", "last"]),
        "Request": (["purpose", "hadFreshToken", "bringsRecords", "age"], ["sentAt", "deadline"]),
        "Follower": (
            [
                "isCaughtUp", "isPolling", "next", "cursorAheadCount", "idleResponses", "limit", "mayBeAskedAgain", "readThrough",

                "holdsReads",
            ],
            ["request", "validAsOf", "storing", "retry", "answered", "verifiedBy", "checkAfter"]
        ),
        "Sender": (
            [
                "isDeciding", "isReconciling", "hasNumberGap", "isNameTaken", "isNameRefused", "mustCheck", "serverLastNumber",
                "lastSentNumber",
                "lastSentBefore", "limit", "refusedWrites",
                "renames", "trouble",
            ],
            ["request", "retry"]
        ),
        "Reader": (["limit"], ["queue"]),
        "ReadQueue": (["underWay"], ["waiters", "items", "queue", "lastSequence"]),
        "Waiter": (["keys", "views", "missing"], ["deadline"]),
        "Item": (
            [
                "key", "known", "lowerBound", "waiters", "nextWaiters", "isOwn", "isUnderWay", "isAlone", "attempts", "lacksContact",
                "failure",
            ],
            ["sequence", "retry"]
        ),
        "Revalidator": (["isStoring", "again", "answered", "after", "limit"], ["query", "request", "retry"]),
        "Refresher": (
            ["isNeeded", "mustBeginAgain", "isRepeating", "after", "storing", "atReader", "limit"], ["query", "request", "retry"]
        ),
        "Lister": ([], ["lists"]),
        "List": (["request", "limit", "attempts"], ["progress", "deadline", "retry"]),
        "Progress": (["after", "lowerBound", "listed", "unlisted", "unread", "found", "failure"], ["step"]),
        "Merger": (["open", "wasRead", "registered", "announced"], ["retry"]),
        "Resetter": (["clear", "storm"], ["reset", "retry"]),
        "Reset": (["epoch", "forgets"], ["lineage", "attempts", "notBefore"]),
        "VerificationQueue": ([], ["calls"]),
        "StoreBinding": (["store"], []),
        "Reachability": (["lostAt", "last", "trouble", "lasts"], []),
        "Retry": (["backoff", "needsFreshToken"], ["notBefore"]),
        "Backoff": (["failures"], []),
    ]

    /// Takes note of the stored properties of each part that is found in a value.
    private func collect(_ value: Any, into found: inout [String: Set<String>]) {
        let mirror = Mirror(reflecting: value)
        let name = String(describing: mirror.subjectType)
        if Self.parts[name] != nil { found[name] = Set(mirror.children.compactMap(\.label)) }
        for child in mirror.children { collect(child.value, into: &found) }
    }

    @Test func everyStoredPropertyOfTheMachineIsKnown() throws {
        // Given a machine with requests, a list, a read and a transaction under way
        var run = try Run(at: 1_000)
        run.begin()
        var found: [String: Set<String>] = [:]
        collect(run.machine, into: &found)
        // And the same with a reset that waits for the disk
        run.loseHistory()
        collect(run.machine, into: &found)
        // Then no part has a property that is not listed
        #expect(Set(found.keys) == Set(Self.parts.keys))
        for (name, properties) in Self.parts {
            #expect(found[name] == properties.compared.union(properties.relativeOrLeftOut), "\(name)")
        }
    }

    @Test func theTimeAndTheNumbersOfRequestsDoNotMatter() throws {
        // Given a machine that follows the feed, and one that began later and has sent a request in vain
        var first = try Run(at: 1_000)
        var second = try Run(at: 5_000_000, wakes: true)
        #expect(first.machine.inspection.requestsSent != second.machine.inspection.requestsSent)
        // When the same happens to both
        let steps: [(inout Run) -> Void] = [{ $0.begin() }, { $0.failRead() }, { $0.loseHistory() }]
        for step in steps {
            step(&first)
            step(&second)
            // Then they are in the same state
            let isSame = first.state == second.state
            #expect(isSame)
        }
    }

    @Test func whatIsLeftOfAWaitMatters() throws {
        // Given a machine that waits before it asks again
        var run = try Run(at: 1_000)
        run.begin()
        run.failRead()
        let before = run.state
        // When time passes
        run.uptime += 10
        // Then it is in another state
        let isSame = run.state == before
        #expect(!isSame)
    }

    /// A machine whose disk never answers.
    private struct Run {
        private(set) var machine: SyncMachine
        var uptime: Int64
        /// The requests that wait for their responses, in order.
        private var requests: [RequestDescription] = []
        private let key: RecordKey

        /// A machine that follows the feed.
        init(at uptime: Int64, wakes: Bool = false) throws {
            self.uptime = uptime
            key = try RecordKey(collection: "c", id: "1")
            let client = try ClientIdentifier("device")
            machine = SyncMachine(settings: SyncSettings(), client: client)
            var store = VolatileStore(client: client)
            let epoch = Epoch(bits: 1)
            let state: [StateChange] = [
                .epoch(epoch), .cursor(Cursor(epoch: epoch, revision: .zero)), .scope(SyncSettings().scope), .revalidation(.complete),
                .completeAt(Timestamp(milliseconds: 0)), .whole(.all),
            ]
            _ = store.commit(DiskTransaction(id: TransactionID(0), state: state))
            var persisted = store.persisted
            persisted.isNew = true
            handle(.started(persisted))
            if wakes { handle(.wake) }
            answerFeed(.noChange(Cursor(epoch: epoch, revision: .zero)))
        }

        var state: some Hashable { machine.relativeState(at: uptime) }

        private mutating func handle(_ event: SyncEvent) {
            for action in machine.handle(event, at: EventContext(uptime: uptime, wall: Timestamp(milliseconds: 0), random: 1)) {
                switch action {
                case .send(let request): requests.append(request)
                case .cancel(let id): requests.removeAll { $0.id == id }
                default: break
                }
            }
        }

        private mutating func answerFeed(_ reply: Reply) {
            if !requests.isEmpty { handle(.replied(requests.removeFirst().id, reply)) }
        }

        /// A list, a read and a write, all under way.
        mutating func begin() {
            handle(.list(ListRequest(callerID: CallerID(3), collection: "c", purpose: .ids)))
            handle(.fetch(FetchRequest(callerID: CallerID(1), items: [FetchRequest.Item(key: key, known: nil)], mustBeNew: true)))
            handle(.set(SetRequest(callerID: CallerID(2), key: key, operation: .delete, policy: .lastWriterWins, base: nil)))
        }

        mutating func failRead() {
            uptime += 5
            guard let request = requests.popLast() else { return }
            handle(.replied(request.id, .failure(.interrupted(""))))
        }

        /// The server's history is another one.
        mutating func loseHistory() {
            uptime += 5
            answerFeed(.noChange(Cursor(epoch: Epoch(bits: 2), revision: .zero)))
        }
    }
}
