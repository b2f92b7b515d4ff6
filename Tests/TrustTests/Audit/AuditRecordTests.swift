import FreshetWire
import Testing

@testable import FreshetTrust

@Suite("Lines of the audit log") struct AuditRecordTests {
    @Test("A line is one object with the members that there are")
    func line() {
        var record = AuditRecord(.rightDenied, time: 1_795_608_000_123)
        #expect(String(decoding: record.line, as: UTF8.self) == #"{"time":"2026-11-25T12:00:00.123Z","event":"right-denied"}"# + "\n")
        (record.principal, record.key, record.address, record.namespace) = ("https://id|u7", "aaaaaaaaaa", "::1", "shop")
        (record.detail, record.request, record.count) = ("needs \"read\"\n\u{1B}[2J", "GET /v1/{namespace}", 3)
        let expected =
            #"{"time":"2026-11-25T12:00:00.123Z","event":"right-denied","principal":"https://id|u7","key":"aaaaaaaaaa","address":"::1","ns":"shop","#
            + #""detail":"needs \"read\"\n\u001b[2J","request":"GET /v1/{namespace}","count":3}"# + "\n"
        #expect(String(decoding: record.line, as: UTF8.self) == expected)
    }

    @Test("A line is bounded, and one line, whatever its texts", arguments: ["x", "\n", "\u{0}", "é", "\"", "\u{2028}"])
    func bound(character: String) {
        var record = AuditRecord(.tokenRefused, time: .max / 2)
        let text = String(repeating: character, count: 100_000)
        (record.principal, record.key, record.address) = (text, text, text)
        (record.namespace, record.detail, record.request, record.count) = (text, text, text, .max)
        #expect(record.line.count <= 4_096)
        #expect(record.line.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(throws: Never.self) { try JSONDocument(Array(record.line.dropLast())) }
    }

    @Test("Each event has its name")
    func names() {
        #expect(Set(AuditEvent.allCases.map(\.rawValue)).count == AuditEvent.allCases.count)
        #expect(AuditEvent.allCases.allSatisfy { $0.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D } })
    }
}
