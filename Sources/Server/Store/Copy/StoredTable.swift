/// A table of a store, with the columns that every kind of store has. A copy consists of these rows and a ``StoreHeader``.
///
/// Rows of dropped namespaces, which compaction has yet to remove, are no part of it. Namespaces keep their numbers.
package enum StoredTable: String, CaseIterable, Sendable {
    // In an order in which a row comes after those that it refers to.
    case generation, namespace, record, invalidation, client, outcome, access

    package enum ValueKind: Hashable, Sendable {
        case integer, text, bytes
    }

    package struct Column: Hashable, Sendable {
        package var name: String
        package var kind: ValueKind

        init(_ name: String, _ kind: ValueKind) {
            self.name = name
            self.kind = kind
        }
    }

    /// The columns; the first ``keyColumns`` are the key, by which ``StoredRows/read(_:_:)`` orders.
    package var columns: [Column] {
        switch self {
        case .generation: [Column("bucket", .integer), Column("value", .integer)]
        case .namespace:
            [Column("id", .integer), Column("name", .text), Column("base", .text)]
                + ["head", "forgotten", "records", "bytes", "tombstones", "invalidations", "clients", "outcomes", "outcome_bytes"].map {
                    Column($0, .integer)
                }
        case .record:
            [
                Column("namespace", .integer), Column("collection", .text), Column("id", .text), Column("revision", .integer),
                Column("modified", .integer), Column("client", .text), Column("write", .integer), Column("content_type", .text),
                Column("deleted", .integer), Column("value", .bytes),
            ]
        case .invalidation:
            [
                Column("namespace", .integer), Column("kind", .integer), Column("collection", .text), Column("name", .text),
                Column("revision", .integer), Column("modified", .integer), Column("since", .integer),
            ]
        case .client:
            [
                Column("namespace", .integer), Column("client", .text), Column("last", .integer), Column("day", .integer),
                Column("owner", .text),
            ]
        case .outcome:
            [
                Column("namespace", .integer), Column("client", .text), Column("last", .integer), Column("count", .integer),
                Column("outcomes", .bytes),
            ]
        case .access: [Column("kind", .text), Column("name", .text), Column("value", .bytes)]
        }
    }

    package var keyColumns: Int {
        switch self {
        case .generation, .namespace: 1
        case .client, .access: 2
        case .record, .outcome: 3
        case .invalidation: 4
        }
    }

    /// Whether the first column is the number of a namespace.
    var belongsToNamespace: Bool { self != .generation && self != .access }
}

/// A value of a row.
package enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])

    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var text: String? { if case .text(let value) = self { value } else { nil } }
    package var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }

    /// The bytes of the value.
    package var byteCount: Int {
        switch self {
        case .null: 0
        case .integer: 8
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }
}

/// The values of a row, in the order of its table's columns.
package typealias StoredRow = [StoredValue]

/// What a store has apart from its rows.
package struct StoreHeader: Hashable, Sendable {
    /// The text of its ``StoreIdentifier``.
    package var identifier: String
    /// Epochs are derived from these two: ``EpochRule``.
    package var seed: Int64
    package var token: Int64
    /// The number of the version of the access rows; 0 in a store that counts them from its start.
    package var access: Int64
    /// What the store keeps of the retention clock, by which rows of both stores are stamped.
    package var retention: RetentionClock.Mark?

    package init(identifier: String, seed: Int64, token: Int64, access: Int64, retention: RetentionClock.Mark?) {
        self.identifier = identifier
        self.seed = seed
        self.token = token
        self.access = access
        self.retention = retention
    }
}
