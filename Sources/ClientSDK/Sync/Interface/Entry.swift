package import FreshetWire

/// One key of the cache as the server confirmed it: a record, or the knowledge that there is none.
///
/// The disk keeps one row for each. A key without a row is *unknown*: it was never read, or it was evicted.
///
/// The fields are in an order, and ``invalidatedAt`` is stored in a form, that keep an entry within 128 bytes: the
/// compiler copies values of that size in place, and larger ones by a call (`StoreRuleTests`).
package struct Entry: Hashable, Sendable {
    /// Where an entry came from.
    package enum Origin: Int64, Hashable, Sendable {
        /// A change of the feed.
        case feed = 0
        /// A read of this key.
        case fetch = 1
        /// A put or delete of this device, known in full from its verdict.
        case ownWrite = 2
        /// The current record that came with a rejection.
        case rejection = 3
    }

    package var key: RecordKey
    /// The history that ``revision`` and ``asOf`` belong to.
    package var epoch: Epoch
    /// The revision of the last write to the record; where there is none, the same as ``asOf``.
    package var revision: Revision
    /// The latest position at which the entry is known to be right, at or past ``revision``.
    package var asOf: Revision
    /// The verification pass that confirmed it. An entry of an earlier pass than the machine's is unverified (after a reset).
    package var pass: Int64
    /// The value; `nil` where there is no record, or ``lacksValue``.
    package var content: Content?
    /// When this device last confirmed it, by the device's wall clock.
    package var verifiedAt: Timestamp
    /// The number of ``invalidatedAt``; -1 for `nil`.
    private var invalidation: Int64
    /// When the record was written, by the server's clock.
    package var modified: Timestamp?
    /// Whether there is a record whose value is not on this device: it was too large for a response with other records.
    package var lacksValue: Bool
    package var origin: Origin

    package init(
        key: RecordKey, epoch: Epoch, revision: Revision, asOf: Revision, pass: Int64, content: Content?, lacksValue: Bool = false,
        invalidatedAt: Revision? = nil, modified: Timestamp? = nil, verifiedAt: Timestamp, origin: Origin
    ) {
        self.key = key
        self.epoch = epoch
        self.revision = revision
        self.asOf = asOf
        self.pass = pass
        self.content = content
        self.lacksValue = lacksValue
        invalidation = invalidatedAt?.number ?? -1
        self.modified = modified
        self.verifiedAt = verifiedAt
        self.origin = origin
    }

    /// The position of an invalidation that reached the record after ``asOf``; `nil` without one. The value is shown,
    /// but not as confirmed, until the record has been read again.
    package var invalidatedAt: Revision? {
        get { Revision(invalidation) }
        set { invalidation = newValue?.number ?? -1 }
    }

    /// Whether there is no record.
    package var isAbsent: Bool { content == nil && !lacksValue }
    /// Whether the entry requires a read of the record from the server.
    package var needsRefresh: Bool { lacksValue || invalidatedAt != nil }

    /// Whether a device whose present pass is `pass` may rely on the entry.
    package func isConfirmed(in pass: Int64) -> Bool { self.pass >= pass && invalidatedAt == nil }

    /// Whether this entry may replace `stored`. This is the one rule of the disk that keeps a value from going back:
    ///
    /// - in one epoch, neither the revision falls, nor, in one pass, the position through which it is known;
    /// - of two epochs, whose revisions cannot be compared, the later pass wins.
    ///
    /// ```sql
    /// CASE WHEN new.epoch = old.epoch
    ///      THEN new.revision >= old.revision AND (new.pass > old.pass OR (new.pass = old.pass AND new.asOf >= old.asOf))
    ///      ELSE new.pass > old.pass END
    /// ```
    package func supersedes(_ stored: Entry) -> Bool {
        guard epoch == stored.epoch else { return pass > stored.pass }
        return revision >= stored.revision && (pass > stored.pass || (pass == stored.pass && asOf >= stored.asOf))
    }

    /// Returns this entry for the place of `stored`, which it supersedes: an invalidation of `stored` that is past
    /// this entry's ``asOf`` is kept. In a later pass it is not kept, since the feed reports the invalidation again.
    package func replacing(_ stored: Entry) -> Entry {
        guard let position = stored.invalidatedAt, epoch == stored.epoch, pass == stored.pass, asOf < position else { return self }
        var entry = self
        entry.invalidatedAt = max(position, invalidatedAt ?? position)
        return entry
    }
}
