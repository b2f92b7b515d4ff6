internal import CFreshetSQLite

extension Statement {
    package func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    package func bind(_ index: Int32, _ value: Int) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, Int64(value)))
    }

    package func bind(_ index: Int32, _ value: Double) throws(SQLiteError) {
        try check(sqlite3_bind_double(handle, index, value))
    }

    /// Binds a copy of the text.
    package func bind(_ index: Int32, _ value: String) throws(SQLiteError) {
        var value = value
        let code = value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                // A null address would bind NULL, not an empty text.
                guard let base = text.baseAddress else { return freshet_bind_text(handle, index, "", 0) }
                guard let count = Int32(exactly: text.count) else { return SQLITE_TOOBIG }
                return freshet_bind_text(handle, index, base, count)
            }
        }
        try check(code)
    }

    /// Binds a copy of the bytes as text, whether or not they are UTF-8: for a bound of a range, such as a prefix followed by 0xFF.
    package func bind(_ index: Int32, textBytes value: [UInt8]) throws(SQLiteError) {
        let code = value.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                guard let base = text.baseAddress else { return freshet_bind_text(handle, index, "", 0) }
                guard let count = Int32(exactly: text.count) else { return SQLITE_TOOBIG }
                return freshet_bind_text(handle, index, base, count)
            }
        }
        try check(code)
    }

    /// Binds a copy of the bytes.
    package func bind(_ index: Int32, _ value: [UInt8]) throws(SQLiteError) {
        try check(value.withUnsafeBytes { bindBlob(index, $0, freshet_bind_blob) })
    }

    package func bindNull(_ index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_null(handle, index))
    }

    package func bind(_ index: Int32, _ value: Int64?) throws(SQLiteError) {
        if let value { try bind(index, value) } else { try bindNull(index) }
    }

    package func bind(_ index: Int32, _ value: Double?) throws(SQLiteError) {
        if let value { try bind(index, value) } else { try bindNull(index) }
    }

    package func bind(_ index: Int32, _ value: String?) throws(SQLiteError) {
        if let value { try bind(index, value) } else { try bindNull(index) }
    }

    package func bind(_ index: Int32, _ value: [UInt8]?) throws(SQLiteError) {
        if let value { try bind(index, value) } else { try bindNull(index) }
    }

    /// Binds the bytes without a copy for as long as the closure runs; afterwards the statement is reset and the parameter is NULL.
    ///
    /// For the hot loop that stores values: run the statement inside the closure.
    package func withBound<Result>(
        _ index: Int32, inPlace value: [UInt8], _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        // The array is held by this frame, so its bytes outlive the closure; the reset ends SQLite's interest in them.
        defer {
            reset()
            _ = sqlite3_bind_null(handle, index)
        }
        let outcome: Swift.Result<Result, SQLiteError> = value.withUnsafeBytes { bytes in
            Swift.Result { () throws(SQLiteError) in
                try check(bindBlob(index, bytes, freshet_bind_blob_in_place))
                return try body()
            }
        }
        return try outcome.get()
    }

    /// Runs with the bytes bound without a copy, to the end and reset; afterwards the parameter is NULL.
    package func run(_ index: Int32, inPlace value: [UInt8]) throws(SQLiteError) {
        let code = value.withUnsafeBytes { bytes -> Int32 in
            let code = bindBlob(index, bytes, freshet_bind_blob_in_place)
            guard code == SQLITE_OK else { return code }
            return runToEnd()
        }
        let failure: SQLiteError? = code == SQLITE_OK ? nil : failure(code)
        // SQLite's interest in the bytes ends here, while they are still held.
        reset()
        _ = sqlite3_bind_null(handle, index)
        if let failure { throw failure }
    }

    private func runToEnd() -> Int32 {
        while true {
            let code = sqlite3_step(handle)
            if code != SQLITE_ROW { return code == SQLITE_DONE ? SQLITE_OK : code }
        }
    }

    /// Binds the text without a copy, runs the closure, and resets the statement; afterwards the parameter is NULL.
    package func withBound<Result>(_ index: Int32, inPlace value: String, _ body: () throws -> Result) throws -> Result {
        var value = value
        return try value.withUTF8 { bytes in
            defer {
                reset()
                _ = sqlite3_bind_null(handle, index)
            }
            try bytes.withMemoryRebound(to: CChar.self) { text in
                // A null address would bind NULL, not an empty text.
                guard let base = text.baseAddress else { return try check(freshet_bind_text(handle, index, "", 0)) }
                guard let count = Int32(exactly: text.count) else { return try check(SQLITE_TOOBIG) }
                try check(freshet_bind_text_in_place(handle, index, base, count))
            }
            return try body()
        }
    }

    private func bindBlob(
        _ index: Int32, _ bytes: UnsafeRawBufferPointer,
        _ function: (OpaquePointer, Int32, UnsafeRawPointer, Int32) -> Int32
    ) -> Int32 {
        // A null address would bind NULL, not an empty blob.
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
        guard let count = Int32(exactly: bytes.count) else { return SQLITE_TOOBIG }
        return function(handle, index, base, count)
    }
}
