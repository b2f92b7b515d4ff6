/// Values that identify their key and their write, so that a reader detects a wrong one without having kept any.
package enum KnownValue {
    /// The value of one write: its key and version, followed by bytes derived from both. About one in eight is large.
    package static func bytes(_ key: String, _ version: Int) -> [UInt8] {
        var seed: UInt64 = 14_695_981_039_346_656_037
        for byte in "\(key)=\(version)".utf8 { seed = (seed ^ UInt64(byte)) &* 1_099_511_628_211 }
        var random = SeededGenerator(seed: seed)
        let count = random.next() % 8 == 0 ? 20_000 + Int(random.next() % 20_000) : Int(random.next() % 500)
        var bytes = Array("\(key)=\(version);".utf8)
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// The version whose value of the key these bytes are; `nil` if there is none.
    package static func version(of bytes: [UInt8], key: String) -> Int? {
        let head = String(decoding: bytes.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
        guard head.hasPrefix("\(key)="), let version = Int(head.dropFirst(key.count + 1)), self.bytes(key, version) == bytes else {
            return nil
        }
        return version
    }
}
