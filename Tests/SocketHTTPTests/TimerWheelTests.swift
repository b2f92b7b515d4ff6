import Testing

@testable import FreshetSocketHTTP

@Suite("Timer wheel")
struct TimerWheelTests {
    @Test("An entry comes at its tick and not before")
    func due() {
        // Given a wheel with entries at 3 and 5
        var wheel = TimerWheel(slots: 8, now: 0)
        wheel.insert(30, at: 3)
        wheel.insert(50, at: 5)

        // When time passes, Then each comes once, at its tick
        #expect(wheel.next() == 3)
        #expect(wheel.advance(to: 2).isEmpty)
        #expect(wheel.advance(to: 3) == [30])
        #expect(wheel.next() == 5)
        #expect(wheel.advance(to: 5) == [50])
        #expect(wheel.advance(to: 20).isEmpty)
        #expect(wheel.next() == nil)
    }

    @Test("A long pause brings everything that has become due, in one turn")
    func pause() {
        var wheel = TimerWheel(slots: 8, now: 100)
        for tick in 101...107 { wheel.insert(UInt64(tick), at: UInt32(tick)) }
        #expect(wheel.advance(to: 5000).sorted() == Array(101...107))
        #expect(wheel.count == 0)
    }

    @Test("An entry beyond the wheel's reach comes early, to be inserted again")
    func reach() {
        // Given an entry ten times round
        var wheel = TimerWheel(slots: 8, now: 0)
        var reached = wheel.insert(1, at: 80)
        var turns = 0

        // When it is inserted again each time that it comes too early, Then it comes at its tick
        while reached < 80 {
            #expect(wheel.advance(to: reached) == [1])
            reached = wheel.insert(1, at: 80)
            turns += 1
        }
        #expect(wheel.advance(to: 79).isEmpty)
        #expect(wheel.advance(to: 80) == [1])
        #expect(turns == 11)
    }

    @Test("An entry in the past comes at the next tick")
    func past() {
        var wheel = TimerWheel(slots: 8, now: 10)
        #expect(wheel.insert(1, at: 4) == 11)
        #expect(wheel.advance(to: 11) == [1])
    }

    @Test("The count of ticks may wrap around")
    func wrap() {
        var wheel = TimerWheel(slots: 8, now: .max - 1)
        wheel.insert(1, at: 2)
        #expect(wheel.next() == 2)
        #expect(wheel.advance(to: .max).isEmpty)
        #expect(wheel.advance(to: 1).isEmpty)
        #expect(wheel.advance(to: 2) == [1])
        #expect(UInt32(2).isAfter(.max))
        #expect(!UInt32.max.isAfter(2))
    }
}
