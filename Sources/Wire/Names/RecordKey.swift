internal import FreshetPlatform

/// A record's address in its namespace: `collection/id`.
///
/// A collection is `[A-Za-z0-9._-]{1,64}`; an id is 1 to 512 bytes of UTF-8 without NUL and may hold slashes.
/// Checked when made, so that a value of this type is always valid.
public struct RecordKey: Hashable, Sendable, CustomStringConvertible {
    /// The collection that the record belongs to.
    public let collection: String
    /// The record's name within its collection.
    public let id: String

    /// - Throws: ``WireError/invalidKey(_:)``.
    public init(collection: String, id: String) throws(WireError) {
        try Self.check(collection: collection)
        guard !id.isEmpty else { throw .invalidKey("the id in '\(collection)/' is empty: it takes 1 to 512 bytes of UTF-8") }
        guard id.utf8.count <= 512 else { throw .invalidKey("the id has \(id.utf8.count) bytes: it takes 1 to 512 bytes of UTF-8") }
        guard !id.utf8.contains(0) else { throw .invalidKey("the id holds a NUL byte: it takes 1 to 512 bytes of UTF-8 without NUL") }
        self.collection = collection
        self.id = id
    }

    /// Reads `collection/id`; everything after the first slash is the id.
    /// - Throws: ``WireError/invalidKey(_:)``.
    public init(_ text: String) throws(WireError) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else {
            throw .invalidKey("'\(text.shortened)' is no key: it takes collection/id, for example customers/7")
        }
        try self.init(collection: String(text[..<slash]), id: String(text[text.utf8.index(after: slash)...]))
    }

    /// Reads a key from well-formed UTF-8; `nil` if it is no key.
    init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let collection = UnsafeRawBufferPointer(rebasing: bytes[..<slash])
        let id = UnsafeRawBufferPointer(rebasing: bytes[(slash + 1)...])
        guard NameRule.isToken(collection), (1...512).contains(id.count), !id.contains(0) else { return nil }
        self.collection = String(decoding: collection, as: UTF8.self)
        self.id = String(decoding: id, as: UTF8.self)
    }

    /// Checks the name of a collection alone.
    /// - Throws: ``WireError/invalidKey(_:)``.
    public static func check(collection: String) throws(WireError) {
        guard NameRule.isToken(collection) else {
            throw .invalidKey("'\(collection.shortened)' is no collection: it takes 1 to 64 of A-Z a-z 0-9 . _ -")
        }
    }

    /// Checks the beginning of an id, and returns it.
    /// - Throws: ``WireError/invalidKey(_:)`` where no id begins so.
    package static func check(prefix: String) throws(WireError) -> String {
        guard prefix.utf8.count <= 512 else { throw .invalidKey("the prefix has \(prefix.utf8.count) bytes, and an id at most 512") }
        guard !prefix.utf8.contains(0) else { throw .invalidKey("the prefix holds a NUL byte, which no id does") }
        return prefix
    }

    /// `collection/id`.
    public var description: String { "\(collection)/\(id)" }
}

extension RecordKey {
    /// Compares by bytes, as ``<(_:_:)`` and the store do.
    public static func == (left: RecordKey, right: RecordKey) -> Bool {
        left.collection == right.collection && ByteIdentity.areEqual(left.id, right.id)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(collection)
        ByteIdentity.hash(id, into: &hasher)
    }
}

extension RecordKey: Comparable {
    /// Orders by collection, then by id, each by their UTF-8 bytes, as SQLite's `BINARY` collation does.
    public static func < (left: RecordKey, right: RecordKey) -> Bool {
        left.collection == right.collection
            ? left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
            : left.collection.utf8.lexicographicallyPrecedes(right.collection.utf8)
    }
}
