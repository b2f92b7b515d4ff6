import FreshetWire
import Testing

@testable import FreshetServer

/// The value against all short sequences of events, and its bounds.
@Suite("Head follower") struct HeadFollowerTests {
    private typealias Head = HeadMessage.Head

    private static let sender: UInt64 = 7
    private let names: [Namespace]

    init() throws { names = try (0..<3).map { try Namespace("n\($0)") } }

    private func head(_ name: Int, _ revision: Int64) -> Head { Head(names[name], FeedSupport.cursor(revision)) }

    private func message(_ sender: UInt64, _ number: Int64, _ heads: [Head] = [], isPartial: Bool = false) -> HeadMessage {
        HeadMessage(sender: sender, number: number, heads: heads, isPartial: isPartial)
    }

    /// What a careful reader of the events would know.
    private struct Shadow {
        var follower = HeadFollower(sender: HeadFollowerTests.sender, now: 0)
        var now: Int64 = 0
        var isUp = false
        var inFlight: HeadMessage?
        var isReconciling = false
        /// Whether no reconciliation has begun since the last connection.
        var needsReconciliation = false
        var number: Int64 = 0
        var revision: Int64 = 0
        /// The latest head of each namespace that no message has carried over a connection that lasted.
        var unannounced: [Namespace: Cursor] = [:]
        /// The latest version of keys that this server has made, and whether a message that lasted has carried it.
        var access: Int64?
        var isAccessAnnounced = true
        var sequences = 0
    }

    private enum Step: CaseIterable {
        case established, lost, commitFirst, commitSecond, changeAccess, sent, receiveOwn, receiveOld, receiveOther, reconciled, tick,
            longTick
    }

    private func take(_ step: Step, _ shadow: inout Shadow) {
        let event: HeadFollower.Event
        switch step {
        case .established:
            (shadow.isUp, shadow.needsReconciliation) = (true, true)
            event = .established
        case .lost:
            (shadow.isUp, shadow.inFlight) = (false, nil)
            event = .lost
        case .commitFirst, .commitSecond:
            shadow.revision += 1
            let head = head(step == .commitFirst ? 0 : 1, shadow.revision)
            shadow.unannounced[head.namespace] = head.position
            event = .committed([head])
        case .changeAccess:
            let version = (shadow.access ?? 0) + 1
            (shadow.access, shadow.isAccessAnnounced) = (version, false)
            event = .changedAccess(AccessVersion(number: version))
        case .sent:
            if shadow.inFlight.map({ $0.access?.number == shadow.access }) == true { shadow.isAccessAnnounced = true }
            for head in shadow.inFlight?.heads ?? [] where shadow.unannounced[head.namespace] == head.position {
                shadow.unannounced[head.namespace] = nil
            }
            shadow.inFlight = nil
            event = .sent
        case .receiveOwn: event = .received(message(Self.sender, shadow.number))
        case .receiveOld: event = .received(message(Self.sender, 0))
        case .receiveOther:
            var message = message(9, 1, [head(2, 5)])
            message.access = AccessVersion(number: 5)
            event = .received(message)
        case .reconciled:
            shadow.isReconciling = false
            event = .reconciled(isComplete: true)
        case .tick, .longTick:
            shadow.now += step == .tick ? HeadFollower.tick : HeadFollower.silence
            event = .tick
        }
        for action in shadow.follower.handle(event, now: shadow.now) {
            switch action {
            case .connect: (shadow.isUp, shadow.inFlight) = (false, nil)
            case .send(let message):
                #expect(shadow.isUp && shadow.inFlight == nil, "a message before the one before it was sent")
                #expect(message.number == shadow.number + 1 && message.access?.number == shadow.access)
                #expect(message.heads == message.heads.sorted { $0.namespace < $1.namespace })
                (shadow.inFlight, shadow.number) = (message, message.number)
            case .follow(let head): #expect(step == .receiveOther && head == self.head(2, 5))
            case .followAccess(let version): #expect(step == .receiveOther && version.number == 5)
            case .reconcile:
                #expect(!shadow.isReconciling, "two reconciliations at once")
                (shadow.isReconciling, shadow.needsReconciliation) = (true, false)
            }
        }
        #expect(shadow.follower.isConnected == shadow.isUp)
        // A reconciliation that began before the connection does not count: another follows it.
        if shadow.needsReconciliation { #expect(shadow.isReconciling) }
    }

    /// All that was committed reaches the others once a connection lasts.
    private func checkAnnouncements(_ shadow: Shadow) {
        var shadow = shadow
        if !shadow.isUp { take(.established, &shadow) }
        for _ in 0..<3 where shadow.inFlight != nil { take(.sent, &shadow) }
        #expect(shadow.unannounced.isEmpty && shadow.isAccessAnnounced)
    }

    private func explore(_ shadow: Shadow, _ depth: Int) -> Int {
        checkAnnouncements(shadow)
        guard depth > 0 else { return 1 }
        return Step.allCases.reduce(0) { count, step in
            var next = shadow
            take(step, &next)
            return count + explore(next, depth - 1)
        }
    }

    @Test func allShortSequences() {
        // Given a server that has just connected, and one that has not
        var connected = Shadow()
        take(.tick, &connected)
        take(.established, &connected)
        // Then
        #expect(explore(Shadow(), 4) == 20_736)
        #expect(explore(connected, 4) == 20_736)
    }

    @Test func aConnectionThatReturnsNoMessageIsReplaced() {
        // Given a connection that takes messages and delivers none
        var follower = HeadFollower(sender: Self.sender, now: 0)
        #expect(follower.handle(.tick, now: 0) == [.connect])
        #expect(follower.handle(.established, now: 10) == [.reconcile])
        #expect(follower.handle(.reconciled(isComplete: true), now: 11).isEmpty)
        var sent = 0
        var replaced: Int64?
        // When
        for now in stride(from: Int64(250), through: 4_000, by: 250) where replaced == nil {
            for action in follower.handle(.tick, now: now) {
                switch action {
                case .send:
                    sent += 1
                    _ = follower.handle(.sent, now: now)
                case .connect: replaced = now
                case .reconcile: #expect(replaced == now)
                case .follow, .followAccess: Issue.record("\(action)")
                }
            }
        }
        // Then it is replaced after three seconds, and the server reconciles every half second until then
        #expect(sent == 3)
        #expect(replaced == 3_250)
        #expect(!follower.isConnected)
        _ = follower.handle(.reconciled(isComplete: true), now: 3_260)
        #expect(follower.handle(.tick, now: 3_500).isEmpty)
        #expect(follower.handle(.tick, now: 3_750) == [.reconcile])
        _ = follower.handle(.reconciled(isComplete: true), now: 3_760)
        #expect(follower.handle(.tick, now: 4_000).isEmpty)
        #expect(follower.handle(.tick, now: 4_250) == [.reconcile])
        // And the attempt itself, which reports its failure, is given up after half a minute
        #expect(!follower.handle(.tick, now: 6_250).contains(.connect))
        #expect(follower.handle(.tick, now: 33_250).contains(.connect))
    }

    @Test func aServerThatDoesNotReachTheStoreLacksContactAfterHalfAMinute() {
        // Given a reconciliation that read the store at 900
        var follower = HeadFollower(sender: Self.sender, now: 0)
        _ = follower.handle(.tick, now: 250)
        _ = follower.handle(.established, now: 250)
        _ = follower.handle(.reconciled(isComplete: true), now: 900)
        // When the next ones cannot read the store
        for now in stride(from: Int64(11_000), through: 30_000, by: Int(HeadFollower.tick)) {
            if follower.handle(.tick, now: now).contains(.reconcile) { _ = follower.handle(.reconciled(isComplete: false), now: now) }
        }
        // Then
        #expect(!follower.lacksContact(at: 30_900) && follower.lacksContact(at: 30_901))
        // Until one can read a part of it
        _ = follower.handle(.tick, now: 41_000)
        _ = follower.handle(.readStore, now: 41_100)
        #expect(!follower.lacksContact(at: 41_100))
    }

    @Test func aServerThatHearsItselfReconcilesEveryTenSeconds() {
        var follower = HeadFollower(sender: Self.sender, now: 0)
        _ = follower.handle(.tick, now: 0)
        var reconciliations = follower.handle(.established, now: 0).filter { $0 == .reconcile }.count
        _ = follower.handle(.reconciled(isComplete: true), now: 0)
        for now in stride(from: Int64(250), through: 60_000, by: 250) {
            for action in follower.handle(.tick, now: now) {
                switch action {
                case .send(let message):
                    #expect(message.heads.isEmpty)
                    _ = follower.handle(.sent, now: now)
                    _ = follower.handle(.received(message), now: now)
                case .reconcile:
                    reconciliations += 1
                    _ = follower.handle(.reconciled(isComplete: true), now: now)
                case .connect, .follow, .followAccess: Issue.record("\(action)")
                }
            }
        }
        #expect(reconciliations == 7)
        #expect(follower.isConnected)
    }

    @Test func failedConnectionsAreTriedLessAndLessOften() {
        var follower = HeadFollower(sender: Self.sender, now: 0)
        var attempts: [Int64] = []
        for now in stride(from: Int64(0), through: 12_000, by: 250) where follower.handle(.tick, now: now).contains(.connect) {
            attempts.append(now)
            _ = follower.handle(.lost, now: now)
        }
        #expect(attempts == [0, 250, 750, 1_750, 3_750, 5_750, 7_750, 9_750, 11_750])
    }

    @Test func theHeadsOfOneMessageAreTheLatest() throws {
        // Given a message in flight
        var follower = HeadFollower(sender: Self.sender, now: 0)
        _ = follower.handle(.established, now: 0)
        #expect(follower.handle(.committed([head(0, 1)]), now: 0) == [.send(message(Self.sender, 1, [head(0, 1)]))])
        // When
        for revision: Int64 in 2...50 { #expect(follower.handle(.committed([head(1, revision), head(0, revision)]), now: 0).isEmpty) }
        // Then
        #expect(follower.waitingCount == 2)
        #expect(follower.handle(.sent, now: 0) == [.send(message(Self.sender, 2, [head(0, 50), head(1, 50)]))])
        // When the connection fails, they are sent over the next one, with what came since
        _ = follower.handle(.lost, now: 0)
        _ = follower.handle(.committed([head(0, 51)]), now: 0)
        #expect(follower.handle(.established, now: 1).last == .send(message(Self.sender, 3, [head(0, 51), head(1, 50)])))
    }

    @Test func moreHeadsThanFitAreAnnouncedAsSuch() throws {
        // Given
        var follower = HeadFollower(sender: Self.sender, now: 0)
        let heads = try (0...HeadFollower.mostHeads).map { Head(try Namespace("m\($0)"), FeedSupport.cursor(1)) }
        // When a server without a connection commits to more namespaces than fit
        for head in heads { _ = follower.handle(.committed([head]), now: 0) }
        // Then it keeps none of them, and the others compare all of theirs
        #expect(follower.waitingCount == 0)
        let partial = message(Self.sender, 1, isPartial: true)
        #expect(follower.handle(.established, now: 0) == [.reconcile, .send(partial)])
        var other = HeadFollower(sender: 8, now: 0)
        #expect(other.handle(.received(partial), now: 0) == [.reconcile])
        #expect(other.handle(.received(partial), now: 0).isEmpty)
        #expect(other.handle(.reconciled(isComplete: true), now: 0) == [.reconcile])
        // And a message with more is followed no further
        let actions = other.handle(.received(message(9, 1, heads)), now: 0)
        #expect(actions.count == HeadFollower.mostHeads)
    }
}
