internal import FreshetClient
public import FreshetWire

/// A record as the server stores it. Compared by the bytes of its id.
public struct BackendRecord<Value: Sendable>: Identifiable, Sendable {
    /// The record's collection and id.
    public let key: RecordKey
    /// The value; `nil` if it does not decode (see ``decodingError``).
    public let value: Value?
    /// The value's bytes.
    public let content: Content
    /// The revision of the last write.
    public let revision: Revision
    /// Why ``value`` is missing: ``TestKitError/notCodable(_:)``.
    public let decodingError: TestKitError?

    /// The record's id in its collection.
    public var id: String { key.id }

    /// - Returns: `nil` for a record that was removed.
    init?(_ record: Record, _ codec: ValueCodec<Value>) {
        guard let content = record.content else { return nil }
        (key, self.content, revision) = (record.key, content, record.revision)
        do {
            value = try codec.decode(content)
            decodingError = nil
        } catch {
            value = nil
            decodingError = .notCodable("\(record.key): \(error)")
        }
    }
}

extension BackendRecord: Equatable where Value: Equatable {}
extension BackendRecord: Hashable where Value: Hashable {}
