internal import FreshetWire
internal import SQLite

extension SQLiteNamespaceTransaction {
    func merging(_ patch: [UInt8], into key: RecordKey, _ occupant: Occupant) throws -> [UInt8] {
        try writeDeferred()
        // SQLite's json_patch compares names as they are spelt, so an escaped one ("\u0061" for "a") is beyond it; and it must not
        // fail on what is not JSON, since that would fail all the transaction.
        if !patch.contains(UInt8(ascii: "\\")) {
            let merged: [UInt8]? = try connection.withStatement(
                """
                SELECT CASE WHEN instr(value, x'5C') = 0 AND json_valid(CAST(value AS TEXT)) AND json_valid(CAST(?2 AS TEXT))
                    THEN json_patch(CAST(value AS TEXT), CAST(?2 AS TEXT)) END
                FROM record WHERE row = ?1
                """
            ) { statement in
                try statement.bind(1, occupant.row)
                return try statement.withBound(2, inPlace: patch) { () throws(SQLiteError) in
                    try statement.step() ? statement.optionalBytes(0) : nil
                }
            }
            if let merged { return merged }
        }
        let value = try record(key)?.content?.bytes ?? Array("null".utf8)
        return try JSONDocument(value).merging(JSONDocument(patch)).bytes
    }
}
