/// One entry of the feed: the latest change of a record, or a sweep.
public struct Change: Hashable, Sendable {
    /// The effect of a change.
    public enum Effect: Hashable, Sendable {
        /// The record has this value. `content` is `nil` if the value was left out: evict the record, and read it when
        /// it is needed.
        case put(RecordKey, content: Content?, contentType: String, size: Int)
        /// The record is gone.
        case delete(RecordKey)
        /// The data has changed in another system: evict, and load again.
        case invalidate(InvalidationScope)
    }

    /// The device and the number of a numbered write: the writer's confirmation.
    public struct Author: Hashable, Sendable {
        /// The writing device.
        public var client: ClientIdentifier
        /// The number that the device gave the write.
        public var write: Int64

        /// An author.
        public init(client: ClientIdentifier, write: Int64) {
            self.client = client
            self.write = write
        }
    }

    /// The place of the change in the namespace's order.
    public var revision: Revision
    /// The effect of the change.
    public var effect: Effect
    /// The time by the server's clock, for people to read; sweeps may lack it.
    public var modified: Timestamp?
    /// The writer, if the write was numbered.
    public var author: Author?

    /// A change.
    public init(revision: Revision, effect: Effect, modified: Timestamp? = nil, author: Author? = nil) {
        self.revision = revision
        self.effect = effect
        self.modified = modified
        self.author = author
    }

    /// The scope that the change reaches.
    public var scope: InvalidationScope {
        switch effect {
        case .put(let key, _, _, _), .delete(let key): .key(key)
        case .invalidate(let scope): scope
        }
    }

    /// The same change without its value.
    public var withoutValue: Change {
        guard case .put(let key, _, let type, let size) = effect else { return self }
        var copy = self
        copy.effect = .put(key, content: nil, contentType: type, size: size)
        return copy
    }
}
