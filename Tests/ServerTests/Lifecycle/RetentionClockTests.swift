import FreshetWire
import Testing

@testable import FreshetServer

/// Time passed in: no server, no store.
@Suite("The retention clock") struct RetentionClockTests {
    private static let day: Int64 = 86_400_000
    private static let now: Int64 = 1_800_000_000_000
    private static let limit = Retention(deletes: 30 * day, outcomes: 365 * day).offLimit

    /// A store, and a server that is started and stopped over it. The monotonic clock begins again with each start.
    private struct Server {
        var mark: RetentionClock.Mark?
        var clock: RetentionClock

        init(_ mark: RetentionClock.Mark? = nil, wall: Int64) {
            self.mark = mark
            clock = RetentionClock(RetentionClock.Stored(mark: mark), wall: wall, monotonic: 5_000, offLimit: RetentionClockTests.limit)
            pass(wall: wall, after: 0)
        }

        /// A pass of compaction, so long after the start.
        mutating func pass(wall: Int64, after uptime: Int64) {
            let time = clock.time(at: 5_000 + uptime).milliseconds
            let raised = RetentionClock.Mark(time: max(time, mark?.time ?? time), wall: max(wall, mark?.wall ?? wall))
            mark = raised
            clock.take(raised, monotonic: 5_000 + uptime)
        }

        func time(after uptime: Int64) -> Int64 { clock.time(at: 5_000 + uptime).milliseconds }

        func restarted(wall: Int64) -> Server { Server(mark, wall: wall) }
    }

    @Test("A new store begins with the wall clock, and its time is the uptime, whatever the wall clock shows")
    func uptime() {
        // Given
        var server = Server(wall: Self.now)
        // When
        server.pass(wall: Self.now + 700 * Self.day, after: Self.day)
        server.pass(wall: Self.now - 4_000 * Self.day, after: 2 * Self.day)
        // Then
        #expect(server.time(after: 0) == Self.now + 2 * Self.day, "it never goes back")
        #expect(server.time(after: 3 * Self.day) == Self.now + 3 * Self.day)
    }

    @Test("A start counts the time off, at most a day of it")
    func timeOff() {
        // Given
        let server = Server(wall: Self.now)
        // Then
        #expect(server.restarted(wall: Self.now + 3_600_000).time(after: 0) == Self.now + 3_600_000)
        #expect(server.restarted(wall: Self.now + 90 * Self.day).time(after: 0) == Self.now + Self.day)
        #expect(server.restarted(wall: Self.now - Self.day).time(after: 10) == Self.now + 10)
    }

    @Test("A wall clock that is ahead counts once, however often the server starts, and once more if it is further ahead")
    func starts() {
        // Given
        let (ahead, further) = (Self.now + 700 * Self.day, Self.now + 1_400 * Self.day)
        var server = Server(wall: Self.now)
        // When
        for start in 0..<100 { server = server.restarted(wall: start % 2 == 0 ? ahead : Self.now) }
        // Then
        #expect(server.time(after: 0) == Self.now + Self.day)
        #expect(server.restarted(wall: further).time(after: 0) == Self.now + 2 * Self.day)
    }

    @Test("A server that runs for a minute at a time ages what it has as one that never stops")
    func manyStarts() {
        // Given
        var server = Server(wall: Self.now)
        // When it is killed each time, and never reaches a second pass
        for minute in 1...(24 * 60) { server = server.restarted(wall: Self.now + Int64(minute) * 60_000) }
        // Then
        #expect(server.time(after: 0) == Self.now + Self.day)
    }

    @Test(
        "A store whose first start had a wrong clock ages by the time that passes, not by the clock's correction", arguments: [-3_650, 730])
    func firstStart(_ days: Int64) {
        // Given
        let wrong = Self.now + days * Self.day
        var server = Server(wall: wrong)
        let stamp = server.time(after: 0)
        // When
        server = server.restarted(wall: Self.now)
        // Then
        #expect((0...Self.day).contains(server.time(after: 0) - stamp))
        #expect(server.time(after: 31 * Self.day) - stamp >= 31 * Self.day, "and it is forgotten in the end")
    }

    @Test("Servers of one store take the latest time of all, and add up nothing")
    func severalServers() {
        // Given
        let mark = RetentionClock.Mark(time: Self.now, wall: Self.now)
        func server(_ mark: RetentionClock.Mark) -> RetentionClock {
            RetentionClock(
                RetentionClock.Stored(mark: mark, wall: Self.now + 700 * Self.day), wall: 0, monotonic: 0, offLimit: Self.limit)
        }
        // When three start together while the clock of the database is ahead, and one later
        var clocks = [server(mark), server(mark), server(mark)]
        let raised = RetentionClock.Mark(time: clocks[0].time(at: 100).milliseconds, wall: Self.now + 700 * Self.day)
        for place in clocks.indices { clocks[place].take(raised, monotonic: 100) }
        clocks.append(server(raised))
        // Then
        #expect(clocks.map { $0.time(at: 100).milliseconds - Self.now - Self.day } == [100, 100, 100, 200])
    }

    @Test("A store of an earlier version begins with its latest stamp or the wall clock, whichever is earlier")
    func earlierVersion() {
        func time(_ latest: Int64?, wall: Int64) -> Int64 {
            RetentionClock(RetentionClock.Stored(mark: nil, latestStamp: latest), wall: wall, monotonic: 0, offLimit: Self.limit)
                .time(at: 0).milliseconds
        }
        #expect(time(nil, wall: Self.now) == Self.now)
        #expect(time(Self.now - 60_000, wall: Self.now) == Self.now)
        #expect(time(Self.now - 60_000, wall: Self.now + 700 * Self.day) == Self.now - 60_000 + Self.day, "a clock that is ahead")
        #expect(time(Self.now + 700 * Self.day, wall: Self.now) == Self.now, "a stamp that was ahead")
        #expect(time(Self.now, wall: Self.now - 700 * Self.day) == Self.now - 700 * Self.day, "a clock that was set back")
    }

    @Test("A wrong clock at a start takes away a day, and at most half of the shorter retention")
    func limits() {
        #expect(Self.limit == Self.day)
        #expect(Retention(deletes: 3_600_000, outcomes: 365 * Self.day).offLimit == 1_800_000)
        #expect(Retention(deletes: 0, outcomes: 365 * Self.day).offLimit == 0)
        #expect(Retention(deletes: .min, outcomes: .max).offLimit == 0)
    }

    @Test("No reading and no mark makes a sum overflow", arguments: [Int64.min, -1, 0, 1, .max])
    func extremes(_ value: Int64) {
        for other in [Int64.min, -1, 0, 1, .max] {
            // Given
            let stored = RetentionClock.Stored(mark: RetentionClock.Mark(time: value, wall: other))
            var clock = RetentionClock(stored, wall: value, monotonic: other, offLimit: Self.limit)
            // When
            clock.take(RetentionClock.Mark(time: other, wall: value), monotonic: value)
            // Then
            let time = clock.time(at: .max)
            #expect(time >= Timestamp(milliseconds: max(value, other)))
            #expect(time.before(milliseconds: .max) == Timestamp(milliseconds: .min))
            #expect(time.before(milliseconds: .min) == Timestamp(milliseconds: .max))
        }
    }
}
