package import FreshetWire

/// A confirmation that a record has not changed.
package struct Revalidation: Hashable, Sendable {
    package var key: RecordKey
    package var epoch: Epoch
    package var revision: Revision
    package var asOf: Revision
    package var pass: Int64
    package var verifiedAt: Timestamp

    package init(key: RecordKey, epoch: Epoch, revision: Revision, asOf: Revision, pass: Int64, verifiedAt: Timestamp) {
        self.key = key
        self.epoch = epoch
        self.revision = revision
        self.asOf = asOf
        self.pass = pass
        self.verifiedAt = verifiedAt
    }
}
