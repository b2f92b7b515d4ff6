import FreshetTestSupport
import Testing

@testable import FreshetCache

/// Tests the machine in virtual time.
@Suite struct PressureMachineTests {
    /// A sign at a second; nil only advances the time.
    struct Step: Sendable {
        let at: Double
        let level: PressureLevel?
        /// The share that caches get; nil for none.
        let percent: Int?

        init(_ at: Double, _ level: PressureLevel?, _ percent: Int?) { (self.at, self.level, self.percent) = (at, level, percent) }
    }

    static let table: [(name: String, steps: [Step])] = [
        ("calm changes nothing", [Step(0, .calm, nil), Step(100, .calm, nil), Step(200, nil, nil), Step(300, .tense, nil)]),
        (
            "a warning takes a step, and the last step is repeated",
            [Step(0, .warning, 50), Step(2, .warning, 25), Step(4, .warning, 10), Step(6, .warning, 10), Step(8, .warning, 10)]
        ),
        ("a critical sign takes two steps", [Step(0, .critical, 25), Step(2, .critical, 10), Step(4, .critical, 10)]),
        (
            "many signs of one moment are one step",
            [Step(0, .warning, 50), Step(0, .warning, nil), Step(1, .warning, nil), Step(1.999, .warning, nil), Step(2, .warning, 25)]
        ),
        (
            "a warning that turns critical goes as far as a critical sign alone",
            [Step(0, .warning, 50), Step(1, .critical, 25), Step(1.5, .critical, nil), Step(1.9, .warning, nil), Step(2, .warning, 10)]
        ),
        (
            "calm grows by steps, each after as long",
            [
                Step(0, .critical, 25), Step(2, .warning, 10), Step(31.9, .calm, nil), Step(32, .calm, 25), Step(61.9, nil, nil),
                Step(62, nil, 50), Step(92, nil, 100), Step(122, nil, nil),
            ]
        ),
        (
            "after any time without a reading it grows by one step",
            [Step(0, .critical, 25), Step(10_000, nil, 50), Step(10_029, nil, nil), Step(10_030, nil, 100)]
        ),
        (
            "tense takes no step down, and none up",
            [Step(0, .warning, 50), Step(29, .tense, nil), Step(30, nil, nil), Step(58.9, nil, nil), Step(59, nil, 100)]
        ),
        ("a late warning does not grow first", [Step(0, .warning, 50), Step(500, .warning, 25)]),
        (
            "if pressure is back at once, the next growth takes twice as long",
            [Step(0, .warning, 50), Step(30, nil, 100), Step(31, .warning, 50), Step(61, nil, nil), Step(90, nil, nil), Step(91, nil, 100)]
        ),
        (
            "if it stays away, the next growth takes as long as ever",
            [Step(0, .warning, 50), Step(30, nil, 100), Step(60, .warning, 50), Step(89.9, nil, nil), Step(90, nil, 100)]
        ),
        ("a clock going back is ignored", [Step(100, .warning, 50), Step(10, .warning, nil), Step(102, .warning, 25), Step(0, nil, nil)]),
    ]

    @Test(arguments: table.indices) func doesWhatTheTableSays(row: Int) {
        // Given
        let (name, steps) = Self.table[row]
        var machine = PressureMachine(calm: .seconds(30))
        for (number, step) in steps.enumerated() {
            // When
            let percent = step.level.map { machine.see($0, at: .seconds(step.at)) } ?? machine.advance(to: .seconds(step.at))
            // Then
            #expect(percent == step.percent, "\(name), step \(number)")
            if let percent { #expect(machine.percent == percent) }
        }
    }

    @Test(arguments: 1...20) func neverSwings(seed: Int) {
        // Given
        var random = SeededGenerator(seed: UInt64(seed))
        var machine = PressureMachine(calm: .seconds(10))
        var (now, lastSign, lastGrowth, lastDown) = (Duration.zero, Duration.seconds(-100), Duration.seconds(-100), Duration.seconds(-100))
        for _ in 0..<5_000 {
            now += .milliseconds(Int.random(in: 0..<(Int.random(in: 0..<20, using: &random) == 0 ? 60_000 : 3_000), using: &random))
            let before = machine.percent
            let due = machine.nextGrowth
            let level = Int.random(in: 0..<3, using: &random) == 0 ? PressureLevel.allCases.randomElement(using: &random) : nil
            // When
            let percent = level.map { machine.see($0, at: now) } ?? machine.advance(to: now)
            // Then
            let (old, new) = (
                PressureMachine.steps.firstIndex(of: before) ?? -9, PressureMachine.steps.firstIndex(of: machine.percent) ?? -9
            )
            #expect(old >= 0 && new >= 0)
            #expect(percent == nil ? new == old : percent == machine.percent)
            switch level {
            case nil, .calm:
                #expect(new == old || new == old - 1)
                #expect((new < old) == (due.map { now >= $0 } ?? false))
                if new < old {
                    #expect(now - lastSign >= .seconds(10) && now - lastGrowth >= .seconds(10))
                    lastGrowth = now
                }
            case .tense: #expect(new == old)
            case .warning: #expect(new == old || new == old + 1)
            case .critical: #expect((old...(old + 2)).contains(new))
            }
            if level == .warning, new > old { #expect(now - lastDown >= PressureMachine.distance) }
            if new > old { lastDown = now }
            if let level, level != .calm { lastSign = now }
            // In any case, after enough calm all limits are restored.
            #expect((machine.nextGrowth == nil) == (machine.percent == 100))
            if let due = machine.nextGrowth { #expect(due - now <= .seconds(160)) }
        }
        for _ in 0..<PressureMachine.steps.count { _ = machine.nextGrowth.flatMap { machine.advance(to: $0) } }
        #expect(machine.percent == 100)
    }

    @Test func pressureThatFollowsEachGrowthIsMetLessAndLessOften() {
        // Given pressure a second after each step up, for two hours
        var machine = PressureMachine(calm: .seconds(30))
        var growths = 0
        var now = Duration.zero
        _ = machine.see(.warning, at: now)
        while let due = machine.nextGrowth, due < .seconds(7_200) {
            // When
            #expect(machine.advance(to: due) == 100)
            growths += 1
            now = due + .seconds(1)
            #expect(machine.see(.warning, at: now) == 50)
        }
        // Then in the end it grows every eight minutes, not every 30 seconds
        #expect(growths == 18)
        #expect(machine.patience == .seconds(480))
    }

    @Test("an extreme calm is clamped to 30 days", arguments: [Duration.seconds(Int64.max), .seconds(Int64.min)])
    func extremes(calm: Duration) throws {
        // Given
        var machine = PressureMachine(calm: calm)
        // When memory was short
        _ = machine.see(.critical, at: .seconds(1))
        // Then
        let growth = try #require(machine.nextGrowth)
        #expect(growth >= .seconds(2) && growth <= .seconds(1 + 30 * 86_400))
    }
}
