import Testing

@testable import FreshetTrust

@Suite("Groups of refusals") struct DenialLogTests {
    private var log = DenialLog()

    private mutating func note(_ source: String, _ reason: String = "unknown", _ event: AuditEvent = .tokenRefused, at now: Int64)
        -> [String]
    {
        let moment = TimeReading(wall: 1_000_000 + now, monotonic: now)
        let records = log.note(DenialLog.Group(event, of: source, reason: reason), at: moment) {
            var record = AuditRecord(event, time: moment.wall)
            (record.address, record.detail) = (source, reason)
            return record
        }
        return records.map(Self.text)
    }

    private static func text(_ record: AuditRecord) -> String {
        "\(record.time - 1_000_000) \(record.event.rawValue) \(record.address ?? "many") \(record.count.map(String.init) ?? "first")"
    }

    @Test("The first refusal of a group is written at once, and the others as one record after a minute")
    mutating func grouping() {
        #expect(note("a", at: 0) == ["0 token-refused a first"])
        for now in 1...500 { #expect(note("a", at: Int64(now)).isEmpty) }
        #expect(note("b", at: 501) == ["501 token-refused b first"])
        #expect(note("a", "expired", at: 502) == ["502 token-refused a first"])
        #expect(note("a", "unknown", .rightDenied, at: 503) == ["503 right-denied a first"])
        // When the minute of the first group is over
        #expect(log.endGroups(at: 59_999).isEmpty)
        #expect(note("a", at: 60_000) == ["500 token-refused a 500", "60000 token-refused a first"])
        // Then groups of one refusal need no second record
        #expect(log.endGroups(at: 119_999).isEmpty && log.endGroups(at: .max).isEmpty)
    }

    @Test("The record is made for the first refusal of a group alone")
    mutating func laziness() {
        var made = 0
        for now in 0..<10 {
            _ = log.note(DenialLog.Group(.rightDenied, of: "a", reason: ""), at: TimeReading(wall: 0, monotonic: Int64(now))) {
                made += 1
                return AuditRecord(.rightDenied, time: 0)
            }
        }
        #expect(made == 1)
    }

    @Test("A flood from many clients takes bounded memory and lines, and is counted")
    mutating func flood() {
        var lines: [String] = []
        for number in 0..<100_000 { lines += note("\(number)", at: 0) }
        #expect(lines.count == DenialLog.maximumOpen + 1 && lines.last == "0 token-refused many first")
        let rest = log.endGroups(at: 60_000).map(Self.text)
        #expect(rest == ["0 token-refused many \(100_000 - DenialLog.maximumOpen - 1)"])
        #expect(log.latest.count == DenialLog.maximumCount)
        // When the next minute has other clients
        #expect(note("late", at: 60_001) == ["60001 token-refused late first"])
    }

    @Test("The latest thousand groups are kept, each with its count and its last time, the latest first")
    mutating func kept() {
        for round in 0..<3 {
            for number in 0..<600 { _ = note("\(round)-\(number)", at: Int64(round * 60_000 + number)) }
        }
        _ = note("2-0", at: 120_700)
        let latest = log.latest
        #expect(latest.count == DenialLog.maximumCount)
        #expect(latest[0].record.address == "2-0" && latest[0].count == 2 && latest[0].last == 1_120_700)
        #expect(latest[1].record.address == "2-599" && latest.last?.record.address == "1-200")
    }
}
