import FreshetTestSupport
import FreshetWire

@testable import FreshetSimulator

/// Scenarios for the tests of the text.
enum ScenarioSamples {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// One of each kind of incident.
    static func everything() throws -> Scenario {
        let notes = try RecordKey("notes/1")
        var scenario = Scenario(
            seed: .max,
            devices: [
                .init("A"), .init("phone-2", following: .everything, collections: ["notes", "in", "a.b_c-"]),
                .init("C", collections: ["notes"], joinsLater: true, hasSmallSteps: true), .init("d", joinsLater: true),
                .init("is", hasSmallSteps: true), .init("small", following: .everything, joinsLater: true),
            ], isServerSmall: true, servers: 9, hasWideDelays: true)
        let keys = [
            "notes/1", "notes/a b", "notes/\"", "notes/#", "n/\u{e9}\u{65}\u{301}", "n/a\nb\u{1}", "n/1*", "n/\u{a0}\u{2028}", "n/,",
            "n/nothing",
        ]
        let values =
            ["{}", "\"x # y\"", "[1, 2]", " 1", "null\n", "{\"a\":\n1}", "-0.5e3"].map { Content(checkedJSON: bytes($0)) } + [
                Content(bytes: [], type: "application/octet-stream"), Content(bytes: [0, 255], type: "image/png"),
                Content(bytes: [1], type: "text/plain; charset=\"a b\""),
            ]
        for (number, name) in keys.enumerated() {
            let key = try RecordKey(name)
            scenario.add(.write(device: number % 6, key, .put(values[number]), .allCases[number % 3]), after: Int64(number))
            scenario.add(.serverWrite(key, .put(values[9 - number])))
            scenario.add(.write(device: 0, key, .patch(bytes("{\"v\": 1}")), .reject))
            scenario.add(.write(device: 0, key, .delete, .merge))
            scenario.add(.read(device: 3, key))
            scenario.add(.fetch(device: 1, [key, notes, key]))
            scenario.add(.list(device: 1, key.collection, .allCases[number % 4]))
            scenario.add(.evict(device: 1, key))
            scenario.add(.invalidate(.key(key)))
            scenario.add(.invalidate(.collection(key.collection, prefix: key.id)))
            scenario.add(.expect(.shows(device: 0, key, values[number].isJSON ? values[number].bytes : nil)))
            scenario.add(.expect(.server(key, number == 0 ? nil : bytes("7"))))
            scenario.add(.expect(.knowsNothing(device: 4, key)))
            scenario.add(.expect(.pending(device: 5, key, number % 2 == 0)))
        }
        for (path, amount) in [
            ("", JSONNumber.integer(1)), ("/a b", .integer(.min)), ("/by", .real(0.1)), ("/a~1b", .real(1e300)), ("/", .real(-5)),
        ] {
            scenario.add(.write(device: 0, notes, .increment(path: try JSONPointer(path), by: amount), .overwrite))
            scenario.add(.serverWrite(notes, .increment(path: try JSONPointer(path), by: amount)))
        }
        for rule in [Increment.OnMissing.reject, .create(from: nil), .create(from: bytes("{\"by\": 1}"))] {
            let increment = Increment(
                path: try JSONPointer("/by"), by: .integer(2), onMissing: rule, minimum: .integer(-1), maximum: .real(2.5))
            scenario.add(.write(device: 0, notes, .increment(increment), .overwrite))
        }
        scenario.add(.invalidate(.everything))
        let times: [Int64] = [0, 1, 999, 1_000, 60_000, 5_400_000, 86_400_000, ScenarioEvent.untilUndone - 1, ScenarioEvent.untilUndone]
        for time in times {
            for process in [ScenarioEvent.Process.server, .device(2)] {
                let troubles = process == .server ? ScenarioEvent.DiskFault.allCases : ScenarioEvent.DiskFault.ofDevices
                for trouble in troubles where time < ScenarioEvent.untilUndone {
                    scenario.add(.disk(process, trouble, time))
                }
                scenario.add(.setClock(process, by: time))
                scenario.add(.setClock(process, by: -time))
                scenario.add(.start(process))
            }
            for direction in ScenarioEvent.Direction.allCases { scenario.add(.partition(device: 4, direction, time)) }
            scenario.add(.crash(device: 1, down: time))
            scenario.add(.crashServer(down: time))
            scenario.add(.crashOneServer(8, down: time))
            for fault in ScenarioEvent.PeerFault.allCases { scenario.add(.peers(server: 0, fault, time)) }
            scenario.add(.sleep(device: 1, time))
            scenario.add(.unplug(device: 1, time))
            scenario.add(.slow(device: 1, time))
            for status in [200, 302, 413, 599] { scenario.add(.intercept(device: 1, status: status, time)) }
            scenario.add(.refuse(device: 1, .overloaded, time))
            scenario.add(.refuse(device: 1, .unauthorized, time))
            for way in ScenarioEvent.Way.allCases {
                for messageFault in [ScenarioEvent.MessageFault.drop, .cut, .garble, .delay(time), .duplicate(after: time)] {
                    scenario.add(.messageFault(device: 5, way, messageFault))
                }
            }
        }
        scenario.add(.refuse(device: 1, .tokenExpired, 0))
        for server in 0..<9 { scenario.add(.roam(device: 1, server: server)) }
        scenario.add(.revoke(device: 1))
        let ranges = [
            InvalidationScope.everything, .collection("notes", prefix: "a b"), .key(try RecordKey("write/1")), .key(try RecordKey("a/*")),
        ]
        for count in 0...ranges.count {
            scenario.add(.grant(device: 1, ScenarioEvent.Access(read: Array(ranges[..<count]), write: Array(ranges[count...]))))
            let lasting = ScenarioEvent.Access(read: Array(ranges[..<count]), write: Array(ranges[..<count]), life: Int64(count) * 1_500)
            scenario.add(.grant(device: 1, lasting))
        }
        scenario.add(.grant(device: 1, .everything))
        scenario.add(.grant(device: 1, ScenarioEvent.Access(read: [], write: [], life: 1)))
        for device in scenario.devices.indices {
            for event in [
                ScenarioEvent.clear(device: device), .join(device: device), .wake(device: device), .reconnect(device: device),
                .heal(device: device), .healAll, .copyDisk(device: device), .replaceDisk(device: device),
            ] {
                scenario.add(event)
            }
            scenario.add(.cutConnections(device: device))
            for standing in Expectation.Standing.allCases { scenario.add(.expect(.status(device: device, standing))) }
        }
        for event in [ScenarioEvent.backUp, .restore, .compact, .drop, .settle] { scenario.add(event, after: 86_400_001) }
        return scenario
    }

    /// A scenario of random keys, paths, values and types.
    static func odd(_ random: inout SeededGenerator) throws -> Scenario {
        let alphabet: [Character] = [
            "a", "/", " ", "\"", "\\", "#", "*", ",", "\n", "\r", "\t", "\u{0}", "\u{1}", "\u{7f}", "é", "e\u{301}", "😀", "\u{2028}", "{",
            "~", "1",
        ]
        func text(_ random: inout SeededGenerator, without banned: Character? = nil) -> String {
            String(
                (0..<Int.random(in: 1...6, using: &random)).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }.filter
                { $0 != banned })
        }
        var scenario = Scenario(devices: [.init("A")])
        for _ in 0..<40 {
            let id = text(&random, without: "\u{0}")
            let key = try RecordKey(collection: "n", id: id.isEmpty ? "1" : id)
            let raw = (0..<Int.random(in: 0...5, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            let type = String(text(&random).unicodeScalars.filter { (0x21..<0x7F).contains($0.value) }.map(Character.init)) + "/x"
            scenario.add(.write(device: 0, key, .put(Content(bytes: raw, type: type)), .allCases[Int.random(in: 0..<3, using: &random)]))
            scenario.add(.serverWrite(key, .put(Content(checkedJSON: JSONText.string(text(&random), &random)))))
            scenario.add(.invalidate(.collection("n", prefix: text(&random))))
            scenario.add(.invalidate(.key(key)))
            scenario.add(.fetch(device: 0, [key, key]))
            let path = "/" + text(&random, without: "~")
            scenario.add(
                .serverWrite(key, .increment(path: try JSONPointer(path), by: .real(Double.random(in: -1e9...1e9, using: &random)))))
        }
        return scenario
    }
}

/// JSON of a text, with white space around it.
private enum JSONText {
    static func string(_ text: String, _ random: inout SeededGenerator) -> [UInt8] {
        let spaces: [UInt8] = [0x20, 0x0A, 0x0D, 0x09]
        let space = (0..<Int.random(in: 0...2, using: &random)).map { _ in spaces[Int.random(in: 0..<4, using: &random)] }
        var writer = JSONWriter()
        writer.beginArray()
        writer.string(text)
        writer.endArray()
        return space + writer.bytes + space
    }
}
