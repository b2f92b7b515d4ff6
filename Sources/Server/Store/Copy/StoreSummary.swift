internal import FreshetTrust

/// The counts of a store's rows, and a digest of the rows of each namespace. Equal for stores with equal rows.
///
/// Takes memory for each namespace, and none for a row.
package struct StoreSummary: Hashable, Sendable {
    /// The size of a table.
    package struct Size: Hashable, Sendable {
        package var rows = 0
        /// The bytes of all values, with 8 for an integer.
        package var bytes = 0
    }

    /// The sum of the digests of rows, whatever their order.
    private struct Digest: Hashable, Sendable {
        var first: UInt64 = 0
        var second: UInt64 = 0

        mutating func add(_ row: SHA256Digest) {
            first &+= row.bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
            second &+= row.bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    package private(set) var sizes: [StoredTable: Size] = [:]
    /// The rows of all tables.
    package var rows: Int { sizes.values.reduce(0) { $0 + $1.rows } }
    /// By the namespaces' numbers, which are positive; rows that belong to no namespace have 0.
    private var digests: [Int64: Digest] = [:]

    package init() {}

    package mutating func add(_ row: StoredRow, of table: StoredTable) {
        let bytes = row.reduce(0) { $0 + $1.byteCount }
        sizes[table, default: Size()].rows += 1
        sizes[table, default: Size()].bytes += bytes
        let namespace = table.belongsToNamespace ? row.first?.integer ?? 0 : 0
        digests[namespace, default: Digest()].add(SHA256Digest(of: Self.encode(row, of: table, bytes: bytes)))
    }

    package func size(of table: StoredTable) -> Size { sizes[table] ?? Size() }

    /// Where two summaries differ first, for a person; `nil` if they are equal.
    package func difference(from other: StoreSummary) -> String? {
        for table in StoredTable.allCases where size(of: table) != other.size(of: table) {
            let (mine, others) = (size(of: table), other.size(of: table))
            return "the table \(table.rawValue) has \(mine.rows) rows of \(mine.bytes) bytes instead of \(others.rows) of \(others.bytes)"
        }
        let differing = Set(digests.keys).union(other.digests.keys).filter { digests[$0] != other.digests[$0] }
        return differing.min().map { $0 == 0 ? "rows of the whole store differ" : "rows of the namespace with number \($0) differ" }
    }

    /// The values one after the other, each with its kind and its length, so that different rows have different texts.
    private static func encode(_ row: StoredRow, of table: StoredTable, bytes: Int) -> [UInt8] {
        var text = Array(table.rawValue.utf8)
        text.reserveCapacity(text.count + bytes + row.count * 9)
        func append(_ kind: UInt8, _ number: Int64) {
            text.append(kind)
            for shift in stride(from: 56, through: 0, by: -8) { text.append(UInt8(truncatingIfNeeded: number >> Int64(shift))) }
        }
        for value in row {
            switch value {
            case .null: text.append(0)
            case .integer(let number): append(1, number)
            case .text(let content):
                append(2, Int64(content.utf8.count))
                text += content.utf8
            case .bytes(let content):
                append(3, Int64(content.count))
                text += content
            }
        }
        return text
    }
}
