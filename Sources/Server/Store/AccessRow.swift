/// What a store keeps of access control: a key, the day of its last use, or a revocation. The store does not look into it.
package struct AccessRow: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case key, use, revocation
    }

    package struct Name: Hashable, Sendable {
        package var kind: Kind
        package var text: String

        package init(_ kind: Kind, _ text: String) {
            self.kind = kind
            self.text = text
        }
    }

    package var kind: Kind
    /// Unique among the rows of its kind.
    package var name: String
    /// JSON.
    package var value: [UInt8]

    package init(_ kind: Kind, name: String, value: [UInt8]) {
        self.kind = kind
        self.name = name
        self.value = value
    }
}

/// A version of a store's access rows. Each transaction that changes rows raises it by one.
package struct AccessVersion: Hashable, Comparable, Sendable {
    /// Counts the histories of the store: after a failover or a restore, the same number may be that of other rows.
    package var history: Int64
    package var number: Int64

    package init(history: Int64 = 0, number: Int64) {
        self.history = history
        self.number = number
    }

    package var next: AccessVersion { AccessVersion(history: history, number: number + 1) }

    package static func < (left: AccessVersion, right: AccessVersion) -> Bool {
        (left.history, left.number) < (right.history, right.number)
    }
}

/// How the access rows have changed between two versions.
package struct AccessChanges: Hashable, Sendable {
    /// The version before the changes; `nil` if ``rows`` are all that there are.
    package var base: AccessVersion?
    package var version: AccessVersion
    /// The rows that were changed, as they are now, by kind and name.
    package var rows: [AccessRow]
    /// The rows that were removed, by kind and name.
    package var removed: [AccessRow.Name]

    package init(after base: AccessVersion?, version: AccessVersion, rows: [AccessRow] = [], removed: [AccessRow.Name] = []) {
        self.base = base
        self.version = version
        self.rows = rows
        self.removed = removed
    }

    /// For how many versions a store knows which rows were removed. A server that is further behind gets all rows.
    package static let kept: Int64 = 1_000
}

/// A server's copy of the access rows, by which it decides what a session may do.
package protocol AccessCopy: Sendable {
    /// Brings the copy up to date with the transaction, before anything in it is decided. No other transaction changes
    /// the rows before this one ends.
    func follow(_ transaction: any RecordTransaction) throws

    /// Takes the changes that a transaction of this server has committed.
    func take(_ changes: AccessChanges)
}
