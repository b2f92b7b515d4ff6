import FreshetTestSupport
import Testing

@testable import FreshetSimulator

/// An error in a text names its line, the words found there, and the valid alternatives.
@Suite struct ScenarioErrorTests {
    @Test(arguments: [
        ("partition B fro 5m", "'fro' does not fit here: after the device comes 'for' and a duration, as in 'for 5m'"),
        ("partition B for 5", "'5' is no duration, which is a whole number with ms, s, m, h or d"),
        ("partition B for -5s", "'-5s' is no duration"),
        ("partition B for 200000d", "'200000d' is more than a hundred years"),
        ("partition B for 5m now", "'now' is too much"),
        ("partiton B for 5m", "no statement begins with 'partiton'; did you mean 'partition'?"),
        ("Settle", "no statement begins with 'Settle'; did you mean 'settle'?"),
        ("A putz n/1 1", "'putz' is nothing that a device does; did you mean 'puts'?"),
        ("A joins", "write 'join A', the other way round"),
        ("A", "'A' says nothing alone"),
        ("A frobs n/1", "'frobs' is nothing that a device does: that is one of puts, writes"),
        ("A puts n/1", "the value is missing: 'puts' takes a key and a JSON value, as in 'A puts n"),
        ("A puts n/1 {\"a\":}", "no JSON at column 17: no value begins with this byte"),
        ("A puts n/1 {}x", "a space is missing at column 14"),
        ("A puts n/1 {} always", "'always' is too much: after a write come at most 'unless changed' or 'merged if changed'"),
        ("A puts n 1", "'n' is no key: it takes collection/id, for example customers/7"),
        ("A puts \"n/1 1", "a string has no end"),
        ("A puts n/1 bytes !", "'!' is no base64"),
        ("A puts n/1 bytes AAEC", "the bytes are no JSON"),
        ("A increments n/1 n by 3", "'n' is no JSON pointer: it begins with /, as in /visits"),
        ("A increments n/1 /n by 0x10", "a space is missing"),
        ("A increments n/1 /n by \"3\"", "is no number that can be added"),
        ("A increments n/1 /n by 1e999", "is no number that can be added"),
        ("server has n/1", "'has' does not fit here: after 'server' comes 'small' or one of puts"),
        ("server invalidates n", "'n' is no key"),
        ("server invalidates no no/*", "'no/*' is too much"),
        ("server invalidates *", "'' has no '/'"),
        ("server small", "'server small' stands before all that happens"),
        ("seed 4", "'seed' stands before all that happens"),
        ("device B", "'device' stands before all that happens"),
        ("crash", "the line ends too soon: 'crash' takes a device or the server"),
        ("disk A full", "the line ends too soon: after the trouble comes 'for'"),
        ("disk A fulll for 5s", "did you mean 'full'?"),
        ("clock A by 5s", "'by' does not fit here: 'clock' takes a device or the server and a change, as in 'clock A forward 3h'"),
        ("refuse A tokenExpired for 5s", "an expired token is 'expire token of A'"),
        ("drop next answer to A", "'answer' does not fit here: that is 'drop next reply to A'"),
        ("delay next reply to A", "that is 'delay next reply to A by 5s'"),
        ("back server", "that is 'back up server'"),
        ("expect B see n/1 1", "'see' does not fit here: after the device comes 'sees', 'knows nothing of' or 'is'"),
        ("expect A sees n/2", "no line before says which value n/2 has; name it"),
        ("expect A is alive", "did you mean 'live'?"),
        ("expect server sees n/1", "after 'server' comes 'has'"),
        ("puts puts n/1 1", "'puts' is a word of the language"),
        ("7up reads n/1", "'7up' is no name of a device"),
    ])
    func theLineIsToldAndWhatWouldBeRight(line: String, message: String) throws {
        // Given a text whose third line is wrong
        let text = "# a comment\nA puts n/1 1\n\(line)\nsettle\n"
        // When it is read, then the error names the line and the alternatives
        let error = try #require(throws: ScenarioError.self) { try Scenario(text: text) }
        #expect(error.description.hasPrefix("line 3: '\(line)': "), "\(error)")
        #expect(error.description.contains(message), "\(error)")
    }

    @Test(arguments: [
        ("device A\ndevice A", "line 2: 'device A': there is a device A already"),
        ("device A\nB reads n/1", "line 2: 'B reads n/1': there is no device B, only A; did you mean A?"),
        ("device Anna\ndevice Bob\nheal Carola", "there is no device Carola, only Anna, Bob; add the line 'device Carola' at the top"),
        ("device A flies", "'flies' does not fit: after the name come, with commas between them, 'follows everything'"),
        ("device A follows everything in", "after 'in' come collections"),
        ("device A follows everything in n/1", "'n/1' is no collection"),
        ("device server-, small steps\ndevice server", "line 2: 'device server': 'server' is a word of the language"),
        ("seed -1", "'-1' is no seed"),
        ("seed 1\nseed 1", "there is a seed already"),
        ("settle\nwait 5s", "line 2: nothing comes after 'wait'"),
        ("wait 36500d\nwait 1ms\nsettle", "line 2: 'wait 1ms': that makes more than a hundred years"),
    ])
    func theHeaderIsChecked(text: String, message: String) throws {
        let error = try #require(throws: ScenarioError.self) { try Scenario(text: text) }
        #expect(error.description.contains(message), "\(error)")
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func noMutationOfATextBreaksTheReader(seed: UInt64) throws {
        // Given valid texts, and what changes them at random
        var random = SeededGenerator(seed: seed)
        var generator = WorkloadGenerator(Workload(devices: 3), seed: seed)
        var scenario = seed % 4 == 0 ? try ScenarioSamples.odd(&random) : generator.scenario
        if seed % 4 != 0 { for _ in 0..<25 { scenario.incidents.append(generator.next()) } }
        let bytes = Array(scenario.text.utf8)
        var (read, refused) = (0, 0)
        for _ in 0..<40 {
            let text = Self.mutated(bytes, &random)
            // When it is read, then it is a scenario that can be written, or an error that names a line
            do throws(ScenarioError) {
                let scenario = try Scenario(text: text)
                #expect(try Scenario(text: scenario.text) == scenario)
                read += 1
            } catch {
                #expect(error.description.hasPrefix("line "), "\(error)")
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func whatAMutationLeavesCanBeRun(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var generator = WorkloadGenerator(Workload(devices: 2, faults: [.network, .messages, .crashes, .refusals]), seed: seed)
        var scenario = generator.scenario
        for _ in 0..<12 { scenario.incidents.append(generator.next()) }
        let lines = scenario.text.split(separator: "\n").map(String.init)
        for _ in 0..<4 {
            let text = lines.filter { _ in Int.random(in: 0..<8, using: &random) > 0 }.joined(separator: "\n")
            guard let scenario = try? Scenario(text: text) else { continue }
            let first = try Simulation(scenario).run()
            #expect(try Simulation(scenario).run().hash == first.hash)
        }
    }

    /// A text with a few bytes, words or lines changed, doubled, left out or swapped.
    private static func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> String {
        var bytes = bytes
        let words =
            Vocabulary.openings + Vocabulary.verbs + [
                "for", "99999999999999999999d", "\"", "{", "9223372036854775807ms", "*", "#", "by", "in", ",",
            ]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard bytes.count > 2 else { break }
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...12, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0..<bytes.count, using: &random))
            case 3: bytes.insert(contentsOf: Array((" " + words[Int.random(in: 0..<words.count, using: &random)] + " ").utf8), at: place)
            case 4: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &random))
            default: bytes.insert(0x0A, at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
