import CFreshetSQLite
import Foundation

@testable import FreshetWire

/// JSON, and the results of patches and increments.
enum Documents {
    /// Compares our reader with Foundation's. They may differ in depth, in numbers beyond a `Double`, in texts that are
    /// not UTF-8 or begin with a byte order mark, and in a comma before a closing bracket, which Foundation accepts
    /// although RFC 8259 does not allow it.
    static func read(_ input: [UInt8]) {
        let isJSON = accepts(input, .json)
        let isInteroperable = accepts(input, .interoperable)
        require(isJSON || !isInteroperable, "I-JSON that is no JSON")
        if let document = try? JSONDocument(input) {
            require(isJSON, "a document from invalid JSON")
            require((try? JSONDocument(document.bytes)) == document, "a document that is read as another one once it was written")
        }
        guard !input.contains(0), input.first != 0xEF, input.first != 0xFE, input.first != 0xFF, input.count < 4_096 else { return }
        let isFoundations = (try? JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed)) != nil
        if isInteroperable, !isFoundations { require(hasLargeNumber(input) || depth(input) > 128, "Foundation refuses what we take") }
        if isFoundations, !isJSON, !hasTrailingComma(input) {
            require(String(validating: input, as: UTF8.self) == nil, "Foundation takes UTF-8 that we refuse")
        }
    }

    private static func accepts(_ input: [UInt8], _ profile: JSONReader.Profile) -> Bool {
        (try? JSONReader.validate(input, profile: profile)) != nil
    }

    /// Whether a number has so many digits, or such an exponent, that it may be beyond a `Double`.
    private static func hasLargeNumber(_ input: [UInt8]) -> Bool {
        var run = 0
        for (index, byte) in input.enumerated() {
            if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E"), index > 0, (0x30...0x39).contains(input[index - 1]) { return true }
            run = (0x30...0x39).contains(byte) ? run + 1 : 0
            if run > 18 { return true }
        }
        return false
    }

    private static func hasTrailingComma(_ input: [UInt8]) -> Bool {
        let tokens = input.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return zip(tokens, tokens.dropFirst()).contains { $0 == UInt8(ascii: ",") && ($1 == UInt8(ascii: "]") || $1 == UInt8(ascii: "}")) }
    }

    private static func depth(_ input: [UInt8]) -> Int {
        var (level, most) = (0, 0)
        for byte in input {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { level += 1 }
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { level -= 1 }
            most = max(most, level)
        }
        return most
    }

    /// The two parts of an input, separated by a byte that does not occur in JSON.
    private static func halves(_ input: [UInt8]) -> ([UInt8], [UInt8])? {
        guard let middle = input.firstIndex(of: 0xFF) else { return nil }
        return (Array(input[..<middle]), Array(input[(middle + 1)...]))
    }

    /// Compares our merge patch with SQLite's.
    static func merge(_ input: [UInt8]) {
        guard let (target, patch) = halves(input), accepts(target, .interoperable), accepts(patch, .interoperable),
            let before = try? JSONDocument(target), let change = try? JSONDocument(patch)
        else { return }
        let after = before.merging(change)
        require((try? JSONDocument(after.bytes)) == after, "a merged value that is read as another one once it was written")
        require(accepts(after.bytes, .json), "a merged value that is no JSON")
        // Merging is idempotent.
        require(sorted(after.merging(change)) == sorted(after), "the same patch again changes something")
        // SQLite before 3.45 compares names as they are spelled: a name with an escape differs from the same name
        // without.
        let hasEscapes = target.contains(UInt8(ascii: "\\")) || patch.contains(UInt8(ascii: "\\"))
        guard !hasEscapes, !target.contains(0), !patch.contains(0), let theirs = sqlite(target, patch) else { return }
        guard let other = try? JSONDocument(theirs) else { fatalError("SQLite's result is no JSON: \(String(decoding: theirs, as: UTF8.self))") }
        require(sorted(other) == sorted(after), "SQLite: \(String(decoding: theirs, as: UTF8.self)), ours: \(String(decoding: after.bytes, as: UTF8.self))")
    }

    /// The document with the members of each object in the order of their names: the two put new members in different places.
    private static func sorted(_ document: JSONDocument) -> JSONDocument {
        switch document {
        case .object(let members):
            .object(
                members.map { JSONDocument.Member(name: $0.name, value: sorted($0.value)) }
                    .sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) })
        case .array(let elements): .array(elements.map(sorted))
        default: document
        }
    }

    nonisolated(unsafe) private static let statement: OpaquePointer? = {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        guard sqlite3_open(":memory:", &database) == SQLITE_OK,
            sqlite3_prepare_v2(database, "SELECT json_patch(?1, ?2)", -1, &statement, nil) == SQLITE_OK
        else { fatalError("SQLite: \(String(cString: sqlite3_errmsg(database)))") }
        return statement
    }()

    private static func sqlite(_ target: [UInt8], _ patch: [UInt8]) -> [UInt8]? {
        sqlite3_reset(statement)
        for (index, text) in [target, patch].enumerated() {
            _ = text.withUnsafeBytes {
                freshet_bind_text(statement, Int32(index + 1), $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
            }
        }
        guard sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) else { return nil }
        return Array(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, 0))))
    }

    /// Increments any pointer in any document by 3, and by -3 again.
    static func increment(_ input: [UInt8]) {
        guard let (target, pointer) = halves(input), let path = try? JSONPointer(String(decoding: pointer, as: UTF8.self)) else { return }
        require(path.description.utf8.count <= JSONPointer.maximumLength, "a pointer beyond the bound")
        if let made = try? Increment(path: path, by: .integer(3)).applied(to: nil) {
            require(accepts(made.bytes, .interoperable), "an increment of nothing makes what cannot be stored")
        }
        guard accepts(target, .interoperable), let before = try? JSONDocument(target),
            let after = try? Increment(path: path, by: .integer(3)).applied(to: before)
        else { return }
        require((try? JSONDocument(after.bytes)) == after, "an incremented value that is read as another one once it was written")
        guard let back = try? Increment(path: path, by: .integer(-3)).applied(to: after),
            let again = try? Increment(path: path, by: .integer(3)).applied(to: back)
        else {
            fatalError("an incremented value cannot be incremented again")
        }
        // A real number may have lost digits the first time; the second time it has the same digits or its original
        // value.
        _ = again
        require(accepts(back.bytes, .json), "an increment makes invalid JSON")
    }
}
