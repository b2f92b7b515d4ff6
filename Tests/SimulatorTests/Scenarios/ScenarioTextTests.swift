import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetSimulator

/// A text is parsed, and a parsed scenario is written as the same text.
@Suite struct ScenarioTextTests {
    @Test func aPersonsTextIsRead() throws {
        // Given a text as people write it
        let text = """
            # A customer, written while B is away.
            seed 17

            device A
            device B follows everything
            device A writes customers/1   # no value: one is made up
            A puts customers/7 {"name": "Ada"}
            partition B for 5m
            wait 1s
            wait 500ms
            A increments counters/1 /n by 3
            crash server for 2s
            settle
            expect B sees customers/7 {"name":"Ada"}
            expect B sees customers/1
            expect B is live
            """
        // When it is read and run
        let scenario = try Scenario(text: text)
        let outcome = try Simulation(scenario).run()
        // Then it is the intended scenario, and holds
        #expect(scenario.seed == 17)
        #expect(scenario.devices == [.init("A"), .init("B", following: .everything)])
        #expect(scenario.incidents.count == 9)
        #expect(scenario.incidents[3].delay == 1_500)
        #expect(
            scenario.incidents[7].event == .expect(.shows(device: 1, try RecordKey("customers/1"), Array(#"{"by":"A","write":1}"#.utf8))))
        #expect(outcome.violation == nil)
        #expect(outcome.steps > 20)
    }

    @Test func devicesAreDeclaredByTheirFirstMention() throws {
        let scenario = try Scenario(text: "B puts n/1 1\nserver deletes n/2\njoin C\nexpect A is offline")
        #expect(scenario.devices == [.init("B"), .init("C", joinsLater: true), .init("A")])
    }

    @Test func windowsLinesAndTabsAreRead() throws {
        #expect(try Scenario(text: "\tA  puts\tn/1 {}\r\n\r\nsettle \r\n").incidents.count == 2)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func everyGeneratedScenarioComesBack(seed: UInt64) throws {
        // Given a scenario out of the workload
        var generator = WorkloadGenerator(Workload(devices: 1 + Int(seed % 6)), seed: seed)
        var scenario = generator.scenario
        for _ in 0..<200 { scenario.incidents.append(generator.next()) }
        // When it is written and read
        let text = scenario.text
        let back = try Scenario(text: text)
        // Then it is the same, in one spelling
        #expect(back == scenario)
        #expect(back.text == text)
    }

    @Test func everyEventIsParsedBack() throws {
        // Given one of every kind, with every word that it can have, keys and values of all sorts
        let scenario = try ScenarioSamples.everything()
        // When it is written and read
        let back = try Scenario(text: scenario.text)
        // Then nothing is lost
        for (left, right) in zip(back.incidents, scenario.incidents) { #expect(left == right) }
        #expect(back == scenario)
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func scenariosOfOddNamesAndValuesComeBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scenario = try ScenarioSamples.odd(&random)
        #expect(try Scenario(text: scenario.text) == scenario)
    }

    @Test func aStarIsAPatternUnlessQuoted() throws {
        let scenario = try Scenario(
            text: #"""
                server invalidates notes/1*
                server invalidates "notes/1*"
                server invalidates "notes/a b"*
                server invalidates notes/*
                server invalidates everything
                """#)
        #expect(
            scenario.incidents.map(\.event) == [
                .invalidate(.collection("notes", prefix: "1")), .invalidate(.key(try RecordKey("notes/1*"))),
                .invalidate(.collection("notes", prefix: "a b")), .invalidate(.collection("notes", prefix: "")), .invalidate(.everything),
            ])
    }
}
