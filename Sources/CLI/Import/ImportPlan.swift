import FreshetWire

/// The client identifier of an import and the number of its records, known once the records have been read.
///
/// The same file and options always make the same client identifier, and each record's position is the number of its
/// write. So an import that was cut off continues where it stopped, and one that had ended changes nothing: the server
/// applies each number once.
struct ImportPlan: Hashable, Sendable {
    let client: ClientIdentifier
    let count: Int

    /// Reads all records, to check them and to derive the client identifier.
    /// - Parameters:
    ///   - content: the hash of the file, called after the last record.
    ///   - attempt: any text but the empty one makes this a separate import of the same file.
    /// - Throws: ``CommandFailure`` of the first record that cannot be read.
    init(
        _ source: some ImportSource, content: () -> FNV1a, attempt: String = ""
    ) throws(CommandFailure) {
        var source = source
        var count = 0
        var hash = FNV1a()
        hash.add(attempt.utf8)
        hash.add([0])
        while let record = try source.next() {
            count += 1
            hash.add(record.key.collection.utf8)
            hash.add([UInt8(ascii: "/")])
            hash.add(record.key.id.utf8)
            hash.add([0])
        }
        withUnsafeBytes(of: content().value.bigEndian) { hash.add($0) }
        self.count = count
        do throws(WireError) {
            client = try ClientIdentifier("import-\(String(hash.value, radix: 36))-\(count)")
        } catch {
            throw CommandFailure(.software, error.description)
        }
    }
}

/// The FNV-1a hash of 64 bits (RFC 9923): only distinguishes one file from another.
struct FNV1a: Hashable, Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}
