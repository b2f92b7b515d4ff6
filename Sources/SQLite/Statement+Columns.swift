internal import CFreshetSQLite

extension Statement {
    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The column as an integer; 0 if it is NULL.
    package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The column as a floating-point number; 0 if it is NULL.
    package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// The column as text; empty if it is NULL.
    package func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// The column's bytes; empty if it is NULL.
    package func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    package func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    package func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    /// Lends the column's bytes without a copy, until the closure ends; none if it is NULL.
    package func withBytes<Result, Failure: Error>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let blob = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return try body(UnsafeRawBufferPointer(start: blob, count: blob == nil ? 0 : count))
    }

    /// The length of the column's text or blob in bytes, without reading it where SQLite can avoid that.
    package func byteCount(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }
}
