/// One entry of the feed: the latest change of a record, or a sweep.
package struct Change: Hashable, Sendable {
    /// The effect of a change.
    package enum Effect: Hashable, Sendable {
        /// The record has this value. `content` is `nil` if the value was left out: evict the record, and read it when
        /// it is needed.
        case put(RecordKey, content: Content?, contentType: String, size: Int)
        /// The record is gone.
        case delete(RecordKey)
        /// The data has changed in another system: evict, and load again.
        case invalidate(InvalidationScope)
    }

    /// The device and the number of a numbered write: the writer's confirmation.
    package struct Author: Hashable, Sendable {
        /// The writing device.
        package var client: ClientIdentifier
        /// The number that the device gave the write.
        package var write: Int64

        /// An author.
        package init(client: ClientIdentifier, write: Int64) {
            self.client = client
            self.write = write
        }
    }

    /// The place of the change in the namespace's order.
    package var revision: Revision
    /// The effect of the change.
    package var effect: Effect
    /// The time by the server's clock, for people to read; sweeps may lack it.
    package var modified: Timestamp?
    /// The writer, if the write was numbered.
    package var author: Author?

    /// A change.
    package init(revision: Revision, effect: Effect, modified: Timestamp? = nil, author: Author? = nil) {
        self.revision = revision
        self.effect = effect
        self.modified = modified
        self.author = author
    }

    /// The scope that the change reaches.
    package var scope: InvalidationScope {
        switch effect {
        case .put(let key, _, _, _), .delete(let key): .key(key)
        case .invalidate(let scope): scope
        }
    }

    /// The same change without its value.
    package var withoutValue: Change {
        guard case .put(let key, _, let type, let size) = effect else { return self }
        var copy = self
        copy.effect = .put(key, content: nil, contentType: type, size: size)
        return copy
    }
}
