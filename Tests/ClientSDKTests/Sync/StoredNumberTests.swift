import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

@testable import FreshetClient

/// Numbers in the file of a device that no device writes.
@Suite("Stored numbers beyond their ranges") struct StoredNumberTests {
    private func state(_ name: String, _ value: Int64) throws(WireError) -> SyncState {
        try SyncState(json: Array(#"{"client":"d","\#(name)":\#(value)}"#.utf8))
    }

    private func row(_ name: String, _ value: Int64) throws(WireError) -> OutboxRow {
        let json = #"{"receipt":3,"write":{"number":7,"op":"delete","key":"c/1"},"\#(name)":\#(value),"created":1}"#
        return try OutboxRow(json: Array(json.utf8))
    }

    @Test(
        "a state with one is refused",
        arguments: [
            ("nextNumber", 1), ("nextReceipt", 1), ("pass", 1), ("droppedRejections", 0),
        ] as [(String, Int64)])
    func states(name: String, lowest: Int64) throws {
        // Given
        let highest: Int64 = 1 << 53
        // Then
        for value in [lowest, highest] { #expect(throws: Never.self) { try state(name, value) } }
        for value in [lowest - 1, highest + 1, .min, .max] { #expect(throws: WireError.self) { try state(name, value) } }
    }

    @Test("a row of the outbox with one is refused")
    func rows() throws {
        #expect(try row("attempts", 0).attempts == 0 && row("attempts", 5).attempts == 5)
        #expect(try row("earlier", 0).number == 0 && row("earlier", -1).number == -1)
        for value in [Int64.min, -1, .max] { #expect(throws: WireError.self) { try row("attempts", value) } }
        for value in [Int64.min, -2, 1, .max] { #expect(throws: WireError.self) { try row("earlier", value) } }
    }

    @Test("the file is moved aside when it is opened, and the next opening begins with an empty one")
    func quarantine() throws {
        // Given a file whose next number is the lowest of all
        let directory = TemporaryDirectory()
        func open() throws -> DiskTier {
            try DiskTier(directory: directory.path, namespace: Sample.namespace, client: Sample.client)
        }
        do {
            let tier = try open()
            let json = #"{"client":"d","nextNumber":\#(Int64.min),"pass":1}"#
            try tier.connection.execute("UPDATE state SET state = CAST('\(json)' AS BLOB)")
        }
        // When
        let thrown = #expect(throws: ClientError.self) { try open() }
        // Then
        guard case .corrupt(_, let quarantine)? = thrown else {
            Issue.record("got \(String(describing: thrown))")
            return
        }
        #expect(access(quarantine, F_OK) == 0)
        #expect(try open().state.nextNumber == 1)
    }
}
