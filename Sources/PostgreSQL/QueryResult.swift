#if PostgreSQL
internal import CFreshetPostgreSQL

/// The rows of one statement, in PostgreSQL's binary formats. Rows and columns are counted from 0.
///
/// The result stays valid after its connection has closed. It belongs to one thread at a time.
package final class QueryResult {
    private let handle: OpaquePointer
    private let statement: String

    /// Takes over the result.
    init(_ handle: OpaquePointer, of statement: String) {
        self.handle = handle
        self.statement = statement
    }

    deinit { PQclear(handle) }

    /// The number of rows.
    package var count: Int { Int(PQntuples(handle)) }

    /// The number of rows that an `INSERT`, `UPDATE` or `DELETE` touched.
    package var affectedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The first word of what the server says it did: `COMMIT`, `ROLLBACK`, `INSERT` and so on.
    package var command: String { String(cString: PQcmdStatus(handle)).prefix { $0 != " " }.description }

    package func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) == 1 }

    /// A `bigint`, `integer` or `smallint`.
    package func int64(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64 {
        let bytes = bytes(row, column)
        switch bytes.count {
        case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        default: throw mismatch(row, column, "an integer")
        }
    }

    package func optionalInt64(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64? {
        isNull(row, column) ? nil : try int64(row, column)
    }

    package func bool(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Bool {
        let bytes = bytes(row, column)
        guard bytes.count == 1 else { throw mismatch(row, column, "a boolean") }
        return bytes[0] != 0
    }

    /// The text; an empty one for NULL.
    package func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    package func optionalText(_ row: Int, _ column: Int) -> String? { isNull(row, column) ? nil : text(row, column) }

    /// A copy of the bytes of a `bytea`; empty for NULL.
    package func byteArray(_ row: Int, _ column: Int) -> [UInt8] { Array(bytes(row, column)) }

    /// Lends the bytes of a value, of any type.
    package func withBytes<Result>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(bytes(row, column))
    }

    /// The bytes, which live as long as the result.
    private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let length = Int(PQgetlength(handle, Int32(row), Int32(column)))
        return UnsafeRawBufferPointer(start: PQgetvalue(handle, Int32(row), Int32(column)), count: length)
    }

    private func mismatch(_ row: Int, _ column: Int, _ expected: String) -> PostgreSQLError {
        PostgreSQLError(.misuse, "row \(row), column \(column) is not \(expected)", statement: statement)
    }
}
#endif
