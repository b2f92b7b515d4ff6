package import FreshetWire

/// A row of the disk without its value.
package struct CachedKey: Hashable, Sendable {
    package var key: RecordKey
    package var epoch: Epoch
    package var revision: Revision
    /// Whether the row has a value.
    package var hasValue: Bool
    /// Whether the row says that there is no record.
    package var isAbsent: Bool

    package init(key: RecordKey, epoch: Epoch, revision: Revision, hasValue: Bool, isAbsent: Bool = false) {
        self.key = key
        self.epoch = epoch
        self.revision = revision
        self.hasValue = hasValue
        self.isAbsent = isAbsent
    }

    package init(_ entry: Entry) {
        self.init(
            key: entry.key, epoch: entry.epoch, revision: entry.revision, hasValue: entry.content != nil,
            isAbsent: entry.content == nil && !entry.lacksValue)
    }
}
