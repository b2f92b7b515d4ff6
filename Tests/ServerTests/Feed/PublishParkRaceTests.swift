import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// A reader that looks into the store, finds nothing and goes to wait, while writes are committed and then published.
/// Whatever the order of these steps, it must see every change once and sleep through none.
@Suite("The race of publishing and waiting") struct PublishParkRaceTests {
    private struct Race {
        var feed = ChangeFeed<Int>(position: FeedSupport.cursor(0))
        /// The changes on disk, published or not.
        var stored: [Change] = []
        var published = 0
        var position: Int64 = 0
        var seen: [Int64] = []
        /// The reader's next step.
        var next = Next.ask(isVerified: false)

        enum Next { case ask(isVerified: Bool), scan, wait }

        mutating func writerStep(_ step: Int) throws {
            if step % 2 == 0 {
                stored.append(try FeedSupport.put(Int64(stored.count + 1), "a/\(stored.count)"))
            } else {
                let change = stored[published]
                published += 1
                for delivery in feed.commit([change], at: FeedSupport.cursor(change.revision.number)) {
                    guard let pages = delivery.pages else { continue }
                    for page in pages.pages { take(page) }
                }
            }
        }

        mutating func readerStep() {
            switch next {
            case .wait: return
            case .scan:
                let found = stored.filter { $0.revision.number > position }
                take(found.map(\.revision.number), to: Int64(stored.count))
                // Only a reader that found nothing may wait.
                next = .ask(isVerified: found.isEmpty)
            case .ask(let isVerified):
                let decision = feed.ask(
                    .after(FeedSupport.cursor(position)), Subscription(), waiter: 0, isVerified: isVerified, deadline: nil, now: 0)
                switch decision {
                case .waiting: next = .wait
                case .scan: next = .scan
                case .reply(let reply): if let page = reply.page { take(page) }
                }
            }
        }

        private mutating func take(_ page: ChangePage) {
            take(page.changes.map(\.revision.number), to: page.cursor.revision.number)
            next = .ask(isVerified: false)
        }

        private mutating func take(_ revisions: [Int64], to position: Int64) {
            seen += revisions
            self.position = position
        }
    }

    @Test(arguments: [false, true])
    func everyInterleaving(beginsWithScan: Bool) throws {
        // Given: three writes of two steps each, and a reader of up to six steps; a bit of the pattern says whose turn it is.
        var finished = 0
        for pattern in 0..<(1 << 12) where pattern.nonzeroBitCount == 6 {
            var race = Race()
            if beginsWithScan { race.next = .scan }
            var step = 0
            // When
            for turn in 0..<12 {
                if pattern & (1 << turn) != 0 {
                    try race.writerStep(step)
                    step += 1
                } else {
                    race.readerStep()
                }
            }
            // and then the reader takes all the steps that it needs
            for _ in 0..<14 { race.readerStep() }
            // Then
            #expect(race.seen == [1, 2, 3], "\(pattern)")
            #expect(race.position == 3)
            guard case .wait = race.next else { return #expect(Bool(false), "the reader spins in \(pattern)") }
            finished += 1
        }
        #expect(finished == 924)
    }
}
