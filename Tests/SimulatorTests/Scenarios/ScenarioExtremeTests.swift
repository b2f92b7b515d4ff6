import FreshetWire
import Testing

@testable import FreshetSimulator

@Suite("Scenarios and workloads with numbers at the ends of their types")
struct ScenarioExtremeTests {
    @Test(
        "a time that no scenario has is an error, however long it is",
        arguments: [
            Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(Int64.max) * 18, .seconds(Int64.min) * 18, .nanoseconds(-1),
            .milliseconds(ScenarioEvent.untilUndone) + .milliseconds(1),
        ])
    func times(time: Duration) {
        let a = Scenario.Device("A")
        for part: any ScenarioPart in [Wait(time), a.sleep(for: time), a.setClock(back: time), a.delayNext(.reply, by: time)] {
            #expect(throws: ScenarioError.self) {
                try Scenario {
                    a
                    part.statement
                    Settle()
                }
            }
        }
    }

    @Test("a workload has 1 to 26 devices and a step at least, however that is set", arguments: [Int.min, -1, 0, 27, 1_000, .max])
    func workloads(number: Int) throws {
        // Given
        var workload = Workload()
        (workload.devices, workload.steps) = (number, min(number, 10))
        // Then
        #expect((1...26).contains(workload.devices) && workload.steps >= 1)
        #expect(try Simulation(seed: 1, workload: workload).run().violation == nil)
    }

    @Test("a clock that is set on and on stops a hundred thousand years away")
    func clocks() throws {
        var (forward, back): (Int64, Int64) = (0, 0)
        for _ in 0..<2_000 {
            forward = SimulatedSystem.offset(forward, set: ScenarioEvent.untilUndone)
            back = SimulatedSystem.offset(back, set: -ScenarioEvent.untilUndone)
        }
        #expect(forward == 1_000 * ScenarioEvent.untilUndone && back == -forward)
        // And devices and servers work with such clocks
        var scenario = Scenario(devices: [.init("A"), .init("B", following: .everything)])
        for _ in 0..<1_100 {
            scenario.add(.setClock(.server, by: ScenarioEvent.untilUndone))
            scenario.add(.setClock(.device(0), by: -ScenarioEvent.untilUndone))
        }
        scenario.add(.write(device: 0, try RecordKey("notes/1"), .put(Content(checkedJSON: Array("1".utf8))), .overwrite))
        scenario.add(.settle)
        scenario.add(.expect(.shows(device: 1, try RecordKey("notes/1"), Array("1".utf8))))
        #expect(try Simulation(scenario).run().violation == nil)
    }

    @Test("devices, statuses, times and patches that cannot be are errors, or change nothing")
    func events() throws {
        let key = try RecordKey("notes/1")
        let incidents: [ScenarioEvent] = [
            .join(device: .max), .wake(device: .min), .sleep(device: 0, .min), .crashServer(down: .max), .setClock(.server, by: .min),
            .messageFault(device: 0, .reply, .delay(.min)), .intercept(device: 0, status: .min, 1), .intercept(device: 0, status: .max, 1),
            .fetch(device: 0, []), .write(device: 0, key, .patch([0xFF]), .merge), .serverWrite(key, .patch([])),
            .serverWrite(key, .increment(Increment(path: try JSONPointer(""), by: .integer(.min), onMissing: .create(from: [0xFF])))),
        ]
        for incident in incidents {
            var scenario = Scenario(devices: [.init("A")])
            scenario.add(.write(device: 0, key, .put(Content(checkedJSON: Array("1".utf8))), .overwrite))
            scenario.add(incident, after: 1_000)
            scenario.add(.fetch(device: 0, [key]), after: 1_000)
            // A sentence for each, and a run or an error.
            #expect(!scenario.text.isEmpty)
            do { #expect(try Simulation(scenario).run(isRecorded: true).violation == nil) } catch { #expect(!error.description.isEmpty) }
            #expect(Shrinker(rule: .bounded, tries: .min).shrunk(scenario) == scenario)
        }
    }

    // A copy of the rest for each word would take minutes.
    @Test("a long line with many words in quotes is read in linear time", .timeLimit(.minutes(5)))
    func longLines() throws {
        // Given a line of 50,000 words in quotes, and a comment of 16 MiB
        let words = Array(String(repeating: #""n/1" "#, count: 50_000).utf8)
        var line = ScenarioLine(words + [UInt8(ascii: "#")] + [UInt8](repeating: UInt8(ascii: "x"), count: 16 << 20))
        // When it is read
        var count = 0
        while let word = try line.word() {
            guard word.isQuoted, word.text == "n/1" else { break }
            count += 1
        }
        // Then each word was found
        let isAtEnd = line.isAtEnd
        #expect(count == 50_000 && isAtEnd)
    }
}
