internal import FreshetSQLite
internal import FreshetWire

/// Removes the records that the device does not follow.
extension DiskTier {
    func remove(_ key: RecordKey) throws -> Bool {
        try connection.withStatement("DELETE FROM entry WHERE collection = ?1 AND id = ?2") { statement in
            try statement.bind(1, key.collection)
            try statement.bind(2, key.id)
            try statement.run()
            return connection.changes > 0
        }
    }

    /// Removes the rows of each collection that the filter does not match. The outbox has the written keys.
    func narrow(to filter: ChangeFilter) throws -> Bool {
        var removed = 0
        for collection in try collections() {
            let isIncluded = filter.collections.isEmpty || filter.collections.contains(collection)
            guard !isIncluded || !filter.prefix.isEmpty else { continue }
            // Compares blobs, whose order is that of the bytes.
            removed += try connection.withStatement(
                """
                DELETE FROM entry WHERE collection = ?1 AND (?2 IS NULL OR substr(CAST(id AS BLOB), 1, length(?2)) <> ?2)
                  AND (collection, id) NOT IN (SELECT collection, id FROM outbox)
                """
            ) { statement in
                try statement.bind(1, collection)
                if isIncluded { try statement.bind(2, Array(filter.prefix.utf8)) } else { try statement.bindNull(2) }
                try statement.run()
                return connection.changes
            }
        }
        return removed > 0
    }

    private func collections() throws -> [String] {
        try connection.withStatement("SELECT DISTINCT collection FROM entry") { statement in
            var collections: [String] = []
            while try statement.step() { collections.append(statement.text(0)) }
            return collections
        }
    }
}
