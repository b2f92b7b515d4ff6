import Testing

@testable import FreshetCache

@Suite struct LoadDeadlinesTests {
    private final class Load {}

    private var deadlines = LoadDeadlines<String>()
    private let first = Load()
    private let second = Load()
    private let third = Load()

    private mutating func add(_ load: Load, _ name: String, at deadline: Int64) -> Bool {
        deadlines.add(ObjectIdentifier(load), name, at: deadline)
    }

    @Test mutating func theAlarmIsSetForTheEarliestDeadlineAlone() {
        #expect(deadlines.alarm == nil)
        #expect(add(first, "first", at: 20) && deadlines.alarm == 20)
        #expect(!add(second, "second", at: 30) && deadlines.alarm == 20)
        #expect(add(third, "third", at: 10) && deadlines.alarm == 10)
    }

    @Test mutating func whatIsDueIsRemovedOnce() {
        // Given
        _ = (add(first, "first", at: 20), add(second, "second", at: 30), add(third, "third", at: 10))
        // When, then
        #expect(deadlines.due(at: 9).isEmpty && deadlines.alarm == 10)
        #expect(Set(deadlines.due(at: 20)) == ["first", "third"] && deadlines.alarm == 30)
        #expect(deadlines.due(at: 20).isEmpty && deadlines.count == 1)
        #expect(deadlines.due(at: .max) == ["second"] && deadlines.alarm == nil && deadlines.count == 0)
    }

    @Test mutating func aRemovedLoadIsNeverDue() {
        _ = (add(first, "first", at: 20), add(second, "second", at: 30))
        #expect(deadlines.remove(ObjectIdentifier(first)) == "first")
        #expect(deadlines.remove(ObjectIdentifier(first)) == nil)
        // The alarm fires in vain, and is then set for the next one
        #expect(deadlines.due(at: 20).isEmpty && deadlines.alarm == 30)
        #expect(deadlines.remove(ObjectIdentifier(second)) == "second")
        #expect(deadlines.due(at: 30).isEmpty && deadlines.alarm == nil)
    }
}
