internal import FoundationEssentials

/// Encodes merge patches, with sorted names as all our JSON.
enum JSONPatch {
    static func encode(_ patch: some Encodable) throws(ClientError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(patch))
        } catch {
            throw .notEncodable("\(error)")
        }
    }
}
