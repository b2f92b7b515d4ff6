import FreshetWire

/// Which writes an import is made of, and in which batches they go.
///
/// The same file, collection and id field always make the same client identifier and the same numbers. So an import that was cut
/// off goes on where it stopped, and one that had ended changes nothing: the server applies each number once.
struct ImportPlan: Hashable, Sendable {
    /// The most bytes of values in one batch; a larger record goes alone.
    static let batchBytes = 1 << 20
    /// The most writes in one batch, few enough that a progress bar moves.
    static let batchCount = 500

    let client: ClientIdentifier
    let writes: [Write]

    /// - Parameter attempt: anything but the empty text makes it another import of the same file.
    init(_ file: ImportFile, of bytes: [UInt8], attempt: String = "") throws(WireError) {
        var hash = FNV1a()
        hash.add(attempt.utf8)
        hash.add([0])
        hash.add(bytes)
        for element in file.elements {
            hash.add(element.key.description.utf8)
            hash.add([0])
        }
        client = try ClientIdentifier("import-\(String(hash.value, radix: 36))-\(file.elements.count)")
        writes = file.elements.enumerated().map { index, element in
            Write(number: Int64(index + 1), key: element.key, operation: .put(Content(bytes: element.value, type: Content.json)))
        }
    }

    /// The batches after the write numbered `last`.
    func batches(after last: Int64) -> [WriteBatch] {
        var batches: [WriteBatch] = []
        var batch: [Write] = []
        var size = 0
        for write in writes where write.number > last {
            let bytes = if case .put(let content) = write.operation { content.bytes.count } else { 0 }
            if !batch.isEmpty, batch.count == Self.batchCount || size + bytes > Self.batchBytes {
                batches.append(WriteBatch(client: client, writes: batch))
                batch = []
                size = 0
            }
            batch.append(write)
            size += bytes
        }
        if !batch.isEmpty { batches.append(WriteBatch(client: client, writes: batch)) }
        return batches
    }
}

/// The FNV-1a hash of 64 bits (RFC 9923): tells one file from another, and nothing more is asked of it.
struct FNV1a: Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}
