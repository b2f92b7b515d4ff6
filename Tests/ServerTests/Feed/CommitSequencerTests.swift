import FreshetWire
import Testing

@testable import FreshetServer

/// All commits, positions and reads over small histories.
@Suite("Commit sequencer") struct CommitSequencerTests {
    private typealias Support = FeedSupport

    private static let epochs = [Epoch(bits: 1), Epoch(bits: 2), Epoch(bits: 3)]
    private let namespace: Namespace

    init() throws { namespace = try Namespace("shop") }

    private func cursor(_ epoch: Int, _ revision: Int64) -> Cursor { Support.cursor(revision, epoch: Self.epochs[epoch]) }

    private func commit(_ base: Cursor, _ revision: Int64, replacing epoch: Epoch? = nil, isReset: Bool = false) -> NamespaceCommit {
        NamespaceCommit(
            namespace: namespace, base: base, cursor: Support.cursor(revision, epoch: base.epoch), changes: [],
            isReset: isReset || epoch != nil, replaced: epoch)
    }

    /// The feed has 1…head. A commit adds base+1…cursor.
    @Test func aCommitIsPublishedExactlyIfItLeavesNoGap() {
        var counts: [CommitSequencer.Step: Int] = [:]
        for head: Int64 in 0...5 {
            for base: Int64 in 0...5 {
                for end in base + 1...6 {
                    var sequencer = CommitSequencer()
                    let step = sequencer.take(commit(cursor(0, base), end), head: cursor(0, head), previous: nil)
                    let read = sequencer.nextRead(head: cursor(0, head), previous: nil)
                    let has = Set(1..<head + 1)
                    let all = has.union(base + 1..<end + 1)
                    let isDense = all == Set(1..<Int64(all.count) + 1)
                    counts[step, default: 0] += 1
                    #expect((step == .publish) == (isDense && all != has), "head \(head), base \(base), end \(end)")
                    #expect((step == .ignore) == (!isDense || all == has))
                    // The store is read exactly for a gap, after the head.
                    #expect(read == (isDense ? nil : cursor(0, head)))
                }
            }
        }
        #expect(counts.values.reduce(0, +) == 126)
        #expect(counts.keys.count == 2)
    }

    @Test func anEpochBeginsByTheCommitThatReplacedTheFeeds() {
        for head in 0..<3 {
            for previous in [nil, 0, 1, 2] where previous != head {
                for base in 0..<3 {
                    for replaced in [nil, 0, 1, 2] where replaced != base {
                        for isReset in [false, true] where isReset || replaced == nil {
                            var sequencer = CommitSequencer()
                            let commit = commit(cursor(base, 4), 6, replacing: replaced.map { Self.epochs[$0] }, isReset: isReset)
                            let (position, before) = (cursor(head, 4), previous.map { Self.epochs[$0] })
                            let step = sequencer.take(commit, head: position, previous: before)
                            let read = sequencer.nextRead(head: position, previous: before)
                            let isKnownSuccessor = isReset && (replaced == nil || replaced == head)
                            switch step {
                            case .publish: #expect(base == head)
                            case .reset: #expect(base != head && isKnownSuccessor)
                            case .ignore: #expect(base != head && !isKnownSuccessor)
                            case .skip: Issue.record("a commit is never more than a page")
                            }
                            // The store decides between two epochs, unless the commit's is known to have ended.
                            #expect((read != nil) == (step == .ignore && base != previous))
                        }
                    }
                }
            }
        }
    }

    /// All results of reads, for a feed that stayed or moved meanwhile.
    @Test func aReadIsTakenForWhatFollowsTheHead() {
        var steps: Set<CommitSequencer.Step> = []
        for (after, head) in [(2, 2), (2, 3), (2, 5)] as [(Int64, Int64)] {
            for headEpoch in 0...1 {
                for position: Int64 in 2...5 {
                    for epoch in 0..<3 {
                        for isComplete in [false, true] {
                            var sequencer = CommitSequencer()
                            let (now, previous) = (cursor(headEpoch, head), headEpoch == 1 ? Self.epochs[0] : nil)
                            sequencer.note(cursor(0, 9))
                            #expect(sequencer.nextRead(head: cursor(0, after), previous: nil) == cursor(0, after))
                            // When
                            let step = sequencer.finish(
                                FeedRead(after: cursor(0, after), position: cursor(epoch, position), isComplete: isComplete), head: now,
                                previous: previous)
                            let next = sequencer.nextRead(head: now, previous: previous)
                            // Then
                            steps.insert(step)
                            if headEpoch == 0 {
                                let isNew = position > head
                                #expect(step == (epoch != 0 ? .reset : !isNew ? .ignore : isComplete ? .publish : .skip))
                                #expect(next == nil)
                            } else {
                                // The changes follow a head that the feed has left.
                                #expect(step == .ignore)
                                let isLater = epoch == 2 || epoch == 1 && position > head
                                #expect(next == (isLater ? now : nil))
                            }
                        }
                    }
                }
            }
        }
        #expect(steps == Set(CommitSequencer.Step.allCases))
    }

    @Test func oneReadIsInProgressWhateverIsAnnounced() {
        // Given
        var sequencer = CommitSequencer()
        sequencer.note(cursor(0, 5))
        #expect(sequencer.nextRead(head: cursor(0, 1), previous: nil) == cursor(0, 1))
        #expect(sequencer.isBehind)
        // When 1,000 positions are announced meanwhile, in any order
        for number: Int64 in 0..<1_000 {
            sequencer.note(cursor(0, 6 + number * 7 % 1_000))
            #expect(sequencer.nextRead(head: cursor(0, 1), previous: nil) == nil)
        }
        // Then one other read follows, unless the first has reached them all
        var other = sequencer
        #expect(
            other.finish(FeedRead(after: cursor(0, 1), position: cursor(0, 1_005), isComplete: true), head: cursor(0, 1), previous: nil)
                == .publish)
        #expect(other.nextRead(head: cursor(0, 1_005), previous: nil) == nil)
        #expect(!other.isBehind)
        #expect(
            sequencer.finish(FeedRead(after: cursor(0, 1), position: cursor(0, 9), isComplete: true), head: cursor(0, 1), previous: nil)
                == .publish)
        #expect(sequencer.nextRead(head: cursor(0, 9), previous: nil) == cursor(0, 9))
    }

    @Test func aPositionThatTheStoreDoesNotHaveIsReadForOnce() {
        // Given an announcement of a revision that nobody has committed
        var sequencer = CommitSequencer()
        sequencer.note(cursor(0, 1_000_000))
        #expect(sequencer.nextRead(head: cursor(0, 1), previous: nil) != nil)
        // When
        #expect(
            sequencer.finish(FeedRead(after: cursor(0, 1), position: cursor(0, 1), isComplete: true), head: cursor(0, 1), previous: nil)
                == .ignore)
        // Then
        #expect(sequencer.nextRead(head: cursor(0, 1), previous: nil) == nil)
        #expect(!sequencer.isBehind)
    }

    @Test func ofTwoEpochsTheStoreKnowsTheLater() {
        // Given a read in progress, at whose end the feed is at 1
        for announced in [[cursor(1, 0), cursor(0, 1)], [cursor(0, 1), cursor(1, 0)]] {
            var sequencer = CommitSequencer()
            sequencer.note(cursor(0, 1))
            #expect(sequencer.nextRead(head: cursor(0, 0), previous: nil) != nil)
            // When another epoch is announced meanwhile, before or after a position that the feed is about to reach
            for position in announced { sequencer.note(position) }
            let read = FeedRead(after: cursor(0, 0), position: cursor(0, 1), isComplete: true)
            #expect(sequencer.finish(read, head: cursor(0, 0), previous: nil) == .publish)
            // Then the store is read again, and once
            #expect(sequencer.nextRead(head: cursor(0, 1), previous: nil) == cursor(0, 1))
            let other = FeedRead(after: cursor(0, 1), position: cursor(1, 0), isComplete: false)
            #expect(sequencer.finish(other, head: cursor(0, 1), previous: nil) == .reset)
            #expect(sequencer.nextRead(head: cursor(1, 0), previous: Self.epochs[0]) == nil)
        }
    }

    @Test func aFailedReadIsRepeatedWhenItIsAllowed() {
        // Given
        var sequencer = CommitSequencer()
        sequencer.note(cursor(0, 5))
        #expect(sequencer.nextRead(head: cursor(0, 1), previous: nil) != nil)
        // When
        sequencer.fail()
        sequencer.note(cursor(0, 6))
        // Then
        #expect(sequencer.nextRead(head: cursor(0, 1), previous: nil) == nil)
        #expect(sequencer.isBehind)
        sequencer.retry()
        #expect(sequencer.nextRead(head: cursor(0, 1), previous: nil) == cursor(0, 1))
    }
}
