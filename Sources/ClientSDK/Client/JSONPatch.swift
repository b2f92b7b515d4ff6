internal import FoundationEssentials

/// Encodes merge patches, with sorted names and dates as ISO 8601, as the values of ``ValueCodec/json(encoder:decoder:)``.
enum JSONPatch {
    static func encode(_ patch: some Encodable) throws(ClientError) -> [UInt8] {
        do {
            return Array(try JSONEncoder.freshet.encode(patch))
        } catch {
            throw .notEncodable("\(error)")
        }
    }
}
