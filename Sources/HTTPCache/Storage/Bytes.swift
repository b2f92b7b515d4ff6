/// Encodes numbers and texts as bytes.
struct ByteWriter {
    var bytes: [UInt8]

    mutating func append(number: Int64) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }

    mutating func append(text: String) { append(content: Array(text.utf8)) }

    mutating func append(content: [UInt8]) {
        append(number: Int64(content.count))
        bytes += content
    }
}

/// Decodes numbers and texts; `nil` if the bytes end too early.
struct ByteReader {
    private var bytes: ArraySlice<UInt8>

    init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func byte() -> UInt8? { bytes.popFirst() }

    mutating func number() -> Int64? {
        guard bytes.count >= 8 else { return nil }
        var value: UInt64 = 0
        for byte in bytes.prefix(8).reversed() { value = value << 8 | UInt64(byte) }
        bytes = bytes.dropFirst(8)
        return Int64(bitPattern: value)
    }

    /// Bytes after their length.
    mutating func content() -> [UInt8]? {
        guard let length = number(), length >= 0, length <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(Int(length)) }
        return Array(bytes.prefix(Int(length)))
    }

    mutating func text() -> String? {
        content().flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// A list after its count; each element takes at least a byte. `nil` if there are more elements than `most`.
    mutating func list<Element>(atMost most: Int = .max, _ element: (inout ByteReader) -> Element?) -> [Element]? {
        guard let count = number(), count >= 0, count <= min(bytes.count, most) else { return nil }
        var result: [Element] = []
        for _ in 0..<count {
            guard let next = element(&self) else { return nil }
            result.append(next)
        }
        return result
    }
}
