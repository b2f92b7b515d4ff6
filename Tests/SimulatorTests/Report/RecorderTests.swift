import FreshetSimulator
import Testing

/// The messages and values in a run's timeline.
@Suite("A recorded run")
struct RecorderTests {
    private static func timeline(of text: String) throws -> Timeline {
        let outcome = try Simulation(try Scenario(text: text)).run(isRecorded: true)
        #expect(outcome.violation == nil)
        return try #require(outcome.timeline)
    }

    @Test("has requests of an unplugged device as refused at once, and no arrow that lasts to the end")
    func unplugged() throws {
        // When
        let timeline = try Self.timeline(of: "device A follows everything\nsettle\nunplug A for 10s\nA puts notes/1 {\"v\":1}\nsettle")
        // Then
        let refused = timeline.messages.filter { $0.delivery == .refused }
        #expect(!refused.isEmpty)
        #expect(refused.allSatisfy { $0.sent == $0.ended && $0.from == 1 && $0.outcome == "the device is not connected" })
        #expect(timeline.messages.allSatisfy { $0.delivery != .underWay || $0.ended - $0.sent < 1_000 })
    }

    @Test("has requests to a server that is down as refused, and none of them as arrived")
    func serverDown() throws {
        // When
        let timeline = try Self.timeline(of: "device A follows everything\nsettle\ncrash server for 5s\nA puts notes/1 {\"v\":1}\nsettle")
        // Then
        let down = try #require(timeline.faults.first { $0.label == "crash server" })
        #expect(down.to - down.from == 5_000)
        let during = timeline.messages.filter { $0.from == 1 && $0.sent > down.from && $0.ended < down.to }
        #expect(!during.isEmpty)
        #expect(during.allSatisfy { $0.delivery == .refused && $0.outcome == "connection refused" })
    }

    @Test("has requests that a proxy answered as intercepted")
    func proxy() throws {
        // When
        let timeline = try Self.timeline(
            of: "device A follows everything\nsettle\nintercept A with 413 for 20s\nA puts notes/1 {\"v\":1}\nwait 20s\nsettle")
        // Then
        let intercepted = timeline.messages.filter { $0.delivery == .intercepted }
        #expect(!intercepted.isEmpty)
        #expect(intercepted.allSatisfy { $0.outcome == "a proxy answers 413" && $0.ended - $0.sent < 1_000 })
    }

    @Test("marks polls that brought nothing, and no others")
    func idle() throws {
        // When
        let timeline = try Self.timeline(
            of: "device A follows everything\nsettle\nwait 60s\nserver puts notes/1 {\"v\":1}\nwait 60s\nsettle")
        // Then
        let idle = timeline.messages.filter(\.isIdle)
        #expect(idle.contains { $0.label.hasPrefix("GET changes since @") } && idle.contains { $0.label.hasPrefix("204") })
        #expect(idle.count { $0.from == 0 } == idle.count { $0.from == 1 })
        let news = try #require(timeline.messages.first { $0.label == "200: 1 change up to @1" })
        #expect(!news.isIdle)
        #expect(timeline.messages.contains { !$0.isIdle && $0.from == 1 && $0.sent < news.sent })
    }

    @Test("writes positions without their epoch, and a new epoch where it begins")
    func positions() throws {
        // When
        let timeline = try Self.timeline(
            of: "device A follows everything\nA puts notes/1 {\"v\":1}\nsettle\ndrop server\nwait 5s\nA puts notes/2 {\"v\":2}\nsettle")
        // Then
        let cursors = Set(timeline.messages.map(\.cursor)).subtracting([""])
        let epochs = Set(cursors.map { String($0.prefix { $0 != "-" }) })
        #expect(epochs.count > 1)
        let naming = timeline.messages.filter { message in epochs.contains { message.label.contains($0) } }
        #expect(!naming.isEmpty && naming.count < 4)
        #expect(naming.allSatisfy { $0.label.contains("a new epoch: ") })
        #expect(timeline.messages.contains { $0.label == "GET changes since @1, wait 25 s" && $0.cursor.hasSuffix("-1") })
    }

    @Test("writes text as text, and other bytes by size and type")
    func values() throws {
        // Given
        let long = String(repeating: "x", count: 300)
        // When
        let timeline = try Self.timeline(
            of: """
                device A follows everything
                A puts notes/json {"v":"grüezi"}
                A puts notes/text bytes Z3LDvGV6aQ== as text/plain
                A puts notes/image bytes AAEC as image/png
                A puts notes/other bytes AAED as image/png
                A puts notes/long {"v":"\(long)"}
                settle
                """)
        // Then
        func value(_ key: String) -> String? { timeline.holdings.last { $0.lane == 1 && $0.key == key }?.value }
        #expect(value("notes/json") == #"{"v":"grüezi"}"#)
        #expect(value("notes/text") == "grüezi")
        #expect(value("notes/image")?.hasPrefix("3 bytes of image/png") == true)
        #expect(value("notes/image") != value("notes/other"))
        let shortened = try #require(value("notes/long"))
        #expect(shortened.hasPrefix(#"{"v":"xxx"#) && shortened.contains("… (308 bytes") && shortened.utf8.count < 260)
        let labels = timeline.marks.map(\.label) + timeline.messages.map(\.label) + timeline.writes.map(\.label)
        #expect(!labels.contains { $0.contains("AAEC") || $0.unicodeScalars.contains { $0.value < 32 } })
    }

    @Test("labels a fault without its duration, which its bar shows, and a clock's change in two units")
    func faults() throws {
        // When
        let timeline = try Self.timeline(
            of: "device A follows everything\nsettle\npartition A for 5s\nclock A back 255892088ms\nslow A\nwait 2s\nheal A\nsettle")
        // Then
        let slow = try #require(timeline.faults.first { $0.label == "slow A" })
        #expect(timeline.faults.map(\.label) == ["partition A", "clock A back 2 d 23 h", "slow A"])
        #expect(slow.to - slow.from == 2_000)
        #expect(timeline.marks.contains { $0.label == "heal A" && $0.lane == 1 && $0.time == slow.to })
    }
}
