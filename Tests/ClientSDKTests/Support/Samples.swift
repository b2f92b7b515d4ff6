// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetClient
import FreshetWire
import Testing

/// Short names for values that most tests need.
enum Sample {
    static let namespace = try! Namespace("test")
    static let client = try! ClientIdentifier("device-1")
    static let epoch = Epoch("e1")!

    static func key(_ text: String) -> RecordKey { try! RecordKey(text) }

    static func revision(_ number: Int64) -> Revision { Revision(number)! }

    static func cursor(_ number: Int64, _ epoch: Epoch = epoch) -> Cursor { Cursor(epoch: epoch, revision: revision(number)) }

    static func json(_ text: String) -> Content { try! Content(json: Array(text.utf8)) }

    static func entry(
        _ key: String, _ revision: Int64, asOf: Int64? = nil, pass: Int64 = 1, epoch: Epoch = epoch, _ content: Content? = json("1"),
        origin: Entry.Origin = .feed
    ) -> Entry {
        Entry(
            key: self.key(key), epoch: epoch, revision: self.revision(revision), asOf: self.revision(asOf ?? revision), pass: pass,
            content: content, modified: Timestamp(milliseconds: 1_000), verifiedAt: Timestamp(milliseconds: 2_000), origin: origin)
    }

    static func row(_ writeID: Int64, _ key: String, _ operation: WriteOperation) -> OutboxRow {
        OutboxRow(
            writeID: LocalWriteID(writeID), number: writeID, key: self.key(key), operation: operation,
            created: Timestamp(milliseconds: 3_000))
    }
}
