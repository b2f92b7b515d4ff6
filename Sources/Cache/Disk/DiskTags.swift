/// An entry's tags in one column, so that they can be taken out of the index without a search: each after its length.
enum DiskTags {
    static func encode(_ tags: [CacheTag]) -> [UInt8] {
        var bytes: [UInt8] = []
        for tag in tags {
            withUnsafeBytes(of: UInt32(clamping: tag.bytes.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: tag.bytes)
        }
        return bytes
    }

    /// How many bytes ``encode(_:)`` makes of them.
    static func byteCount(_ tags: [CacheTag]) -> Int { tags.reduce(0) { $0 + 4 + $1.bytes.count } }

    /// As many as the bytes hold: they may be damaged.
    static func decode(_ bytes: [UInt8]) -> [CacheTag] {
        var tags: [CacheTag] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count else { break }
            tags.append(CacheTag(String(decoding: rest.prefix(count), as: UTF8.self)))
            rest = rest.dropFirst(count)
        }
        return tags
    }
}
