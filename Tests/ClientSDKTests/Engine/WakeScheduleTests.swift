import Testing

@testable import FreshetClient

@Suite struct WakeScheduleTests {
    @Test func aDeadlineIsMetOnceAndNeverEarly() {
        var schedule = WakeSchedule(uptime: 1_000, slept: 0)
        schedule.deadline = 3_000
        #expect(schedule.wait(uptime: 1_000) == 2_000)
        let early = schedule.look(uptime: 2_999, slept: 0)
        #expect(!early.due && !early.gap)
        #expect(schedule.wait(uptime: 2_999) == 1)
        #expect(schedule.look(uptime: 3_000, slept: 0).due)
        #expect(!schedule.look(uptime: 3_001, slept: 0).due)
        schedule.deadline = 10
        #expect(schedule.wait(uptime: 3_001) == 0)
    }

    @Test("of two deadlines the earlier one decides the wait, and each is met once")
    func twoDeadlines() {
        // Given
        var schedule = WakeSchedule(uptime: 0, slept: 0)
        schedule.deadline = 3_000
        schedule.readDeadline = 2_000
        // When and then
        #expect(schedule.wait(uptime: 0) == 2_000)
        let first = schedule.look(uptime: 2_000, slept: 0)
        #expect(first.readDue && !first.due && schedule.readDeadline == nil)
        #expect(schedule.wait(uptime: 2_000) == 1_000)
        let second = schedule.look(uptime: 3_000, slept: 0)
        #expect(second.due && !second.readDue)
    }

    @Test func aDeadlineThatMovesOnLeavesTheTimerAlone() {
        // Given a timer that is set
        var schedule = WakeSchedule(uptime: 0, slept: 0)
        schedule.deadline = 2_000
        #expect(schedule.wait(uptime: 0) == 2_000)
        // When the deadline moves on, or goes
        schedule.deadline = 3_000
        #expect(schedule.wait(uptime: 1_000) == nil)
        schedule.deadline = nil
        #expect(schedule.wait(uptime: 1_000) == nil)
        // Then the timer's look finds nothing due, and sets the timer for the new deadline
        schedule.deadline = 3_500
        #expect(!schedule.look(uptime: 2_000, slept: 0).due)
        #expect(schedule.wait(uptime: 2_000) == 1_500)
        // And an earlier deadline is met
        schedule.deadline = 2_200
        #expect(schedule.wait(uptime: 2_100) == 100)
    }

    @Test func itLooksEveryFewSecondsWhateverTheDeadline() {
        var schedule = WakeSchedule(uptime: 0, slept: 0)
        #expect(schedule.wait(uptime: 0) == WakeSchedule.interval)
        schedule.deadline = 60_000
        #expect(schedule.wait(uptime: 0) == nil)
        _ = schedule.look(uptime: WakeSchedule.interval, slept: 0)
        #expect(schedule.wait(uptime: WakeSchedule.interval) == WakeSchedule.interval)
    }

    @Test func aSleepIsAGapAndADriftIsNot() {
        // Given a schedule that was armed; the uptime counts sleep, so it runs ahead of the timer by as much
        var schedule = WakeSchedule(uptime: 0, slept: 100)
        _ = schedule.wait(uptime: 0)
        #expect(!schedule.look(uptime: 5_001, slept: 101).gap)
        _ = schedule.wait(uptime: 5_001)
        #expect(schedule.look(uptime: 12_001, slept: 2_101).gap)
        #expect(!schedule.look(uptime: 12_002, slept: 2_101).gap)
    }

    @Test func afterASleepTheLookComesWithTheFirstEvent() {
        // Given a timer that was set before a sleep
        var schedule = WakeSchedule(uptime: 0, slept: 0)
        _ = schedule.wait(uptime: 0)
        // When something else happens first
        schedule.deadline = 700_000
        #expect(schedule.wait(uptime: 600_000) == 0)
        // Then the look reports the sleep
        #expect(schedule.look(uptime: 600_000, slept: 598_000).gap)
        #expect(schedule.wait(uptime: 600_000) == WakeSchedule.interval)
    }

    @Test func aHaltIsAGapToo() {
        // As when the process was stopped by a signal, or its machine was paused without the clocks' knowing
        var schedule = WakeSchedule(uptime: 0, slept: 0)
        _ = schedule.wait(uptime: 0)
        #expect(schedule.look(uptime: 5_000 + WakeSchedule.haltThreshold + 1, slept: 0).gap)
    }
}
