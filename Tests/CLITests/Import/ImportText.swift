import FreshetTestSupport
import FreshetWire

@testable import freshet

/// A file to import with the given content.
struct ImportText {
    private let folder = TemporaryDirectory()
    let input: ImportInput

    init(_ bytes: [UInt8]) throws {
        folder.write(bytes, to: "file")
        input = try ImportInput(path: folder.file("file"))
    }

    init(_ text: String) throws { try self.init(Array(text.utf8)) }

    /// Changes the file while it is read.
    func append(_ bytes: [UInt8], at offset: Int) { folder.write(bytes, to: "file", at: offset) }
}

extension ImportSource {
    /// All remaining records.
    func all() throws(freshet.CommandFailure) -> [ImportRecord] {
        var source = self
        var records: [ImportRecord] = []
        while let record = try source.next() { records.append(record) }
        return records
    }
}

extension ImportRecord {
    /// The value as text.
    var text: String { String(decoding: content.bytes, as: UTF8.self) }
}
