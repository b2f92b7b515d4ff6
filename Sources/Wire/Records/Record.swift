/// A record as it is, wherever JSON carries one: in lists, reads and the `current` of a problem.
public struct Record: Hashable, Sendable {
    /// The record's address.
    public var key: RecordKey
    /// The revision of the last write to it.
    public var revision: Revision
    /// The value; `nil` if it was left out, because of its size or since the request did not ask for it.
    public var content: Content?
    /// The media type of the value, even if the value was left out.
    public var contentType: String
    /// The number of bytes of the value, even if it was left out.
    public var size: Int
    /// The time of the last write, by the server's clock, for people to read.
    public var modified: Timestamp

    /// A record with its value.
    public init(key: RecordKey, revision: Revision, content: Content, modified: Timestamp) {
        self.key = key
        self.revision = revision
        self.content = content
        self.contentType = content.type
        self.size = content.bytes.count
        self.modified = modified
    }

    /// A record whose value was left out.
    public init(key: RecordKey, revision: Revision, contentType: String, size: Int, modified: Timestamp) {
        self.key = key
        self.revision = revision
        self.contentType = contentType
        self.size = size
        self.modified = modified
    }

    /// The record with its value left out.
    public var withoutValue: Record { Record(key: key, revision: revision, contentType: contentType, size: size, modified: modified) }
}
