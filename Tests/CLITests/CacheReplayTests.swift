import Testing

@testable import freshet

struct CacheReplayTests {
    private let freshet = Program()

    @Test func countsWhatACacheWouldHaveAnswered() throws {
        let replay = try CacheReplay(trace: Array("a\nb\r\n\na\nb\nc\na".utf8), capacity: 10, named: "trace")
        #expect(replay.requests == 6 && replay.hits == 3 && replay.hitRatio == 0.5)
        // With room for two keys, the first has been evicted when it is looked up again
        let small = try CacheReplay(trace: Array("a\nb\nc\na\n".utf8), capacity: 2, named: "trace")
        #expect(small.requests == 4 && small.hits == 0)
    }

    @Test func aTraceThatCannotBeReadAsKeysIsSaidSo() {
        #expect(throws: CommandFailure(.data, "trace holds no key; a trace holds one a line")) {
            try CacheReplay(trace: Array("\n\r\n".utf8), capacity: 1, named: "trace")
        }
        #expect(throws: CommandFailure(.data, "trace, line 2: not UTF-8; a trace holds one key a line, as text")) {
            try CacheReplay(trace: Array("a\n".utf8) + [0xFF], capacity: 1, named: "trace")
        }
    }

    @Test func printsForPeopleAndForPrograms() async throws {
        let text = try await freshet("cache", "replay", "--trace", "-", "--capacity", "5", input: "a\nb\na\n")
        #expect(text.status == 0 && text.lines == ["requests   3", "hits       1", "hit ratio  33.33 %"])
        let json = try await freshet("cache", "replay", "--trace", "-", "--capacity", "5", "--json", input: "a\nb\na\n")
        #expect(json.status == 0 && json.output == #"{"requests":3,"hits":1,"hitRatio":0.333333}"# + "\n")
    }

    @Test func saysWhatIsWrong() async throws {
        let missing = try await freshet("cache", "replay", "--trace", "/no/such/file", "--capacity", "5")
        #expect(missing.status == ExitStatus.noInput.rawValue && missing.error.hasPrefix("error: cannot read /no/such/file: "))
        let empty = try await freshet("cache", "replay", "--trace", "-", "--capacity", "5")
        #expect(empty.status == ExitStatus.data.rawValue && empty.error.contains("standard input holds no key"))
        let zero = try await freshet("cache", "replay", "--trace", "-", "--capacity", "0")
        #expect(zero.status == ExitStatus.usage.rawValue && zero.error.lowercased().hasPrefix("error: --capacity takes"))
    }
}
