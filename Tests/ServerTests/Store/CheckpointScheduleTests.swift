import Testing

@testable import FreshetServer

@Suite("Schedule of checkpoints") struct CheckpointScheduleTests {
    /// The steps after commits of which each adds as many pages, without any that lets the log begin again.
    private func steps(_ schedule: inout CheckpointSchedule, commits: Int, of pages: Int) -> [Int: CheckpointSchedule.Step] {
        var steps: [Int: CheckpointSchedule.Step] = [:]
        for commit in 1...commits {
            let step = schedule.step(logPages: commit * pages)
            if step != .none { steps[commit * pages] = step }
        }
        return steps
    }

    @Test func pagesAreMovedAtTheIntervalAndAgainWhileReadersHoldThemUp() {
        // Given
        var schedule = CheckpointSchedule(interval: 80, limit: 160)
        // When the log grows below the limit, Then pages are moved at the interval, and then after each eighth of it
        #expect(steps(&schedule, commits: 12, of: 10) == [80: .move, 90: .move, 100: .move, 110: .move, 120: .move])
    }

    @Test func fromTheLimitOnReadersWaitOnceForEachInterval() {
        // Given
        var schedule = CheckpointSchedule(interval: 80, limit: 160)
        // When the log grows although nobody of this process reads
        let found = steps(&schedule, commits: 40, of: 10).filter { $0.value == .moveWithoutReaders }
        // Then readers waited a few times, and not at each commit
        #expect(found.keys.sorted() == [160, 240, 320, 400])
    }

    @Test func aLogThatBeganAgainIsMovedAtTheIntervalAgain() {
        // Given a log that was moved without readers, and began again
        var schedule = CheckpointSchedule(interval: 80, limit: 160)
        #expect(schedule.step(logPages: 200) == .moveWithoutReaders)
        #expect(schedule.step(logPages: 10) == .none)
        // When it reaches the interval, Then the next step is due, although the one before would have come later
        #expect(schedule.step(logPages: 79) == .none)
        #expect(schedule.step(logPages: 80) == .move)
    }

    @Test func aSmallIntervalIsTriedAgain() {
        // Given an interval of fewer than eight pages
        var schedule = CheckpointSchedule(interval: 2, limit: 100)
        // When the log grows, Then each page is a reason
        #expect((1...4).map { schedule.step(logPages: $0) } == [.none, .move, .move, .move])
    }
}
