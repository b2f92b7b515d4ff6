#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer

extension AccessChanges {
    /// Reads the changes after a version.
    init(after version: AccessVersion?, over connection: Connection) throws {
        var parameters = Parameters()
        parameters.add(version?.history)
        parameters.add(version?.number)
        parameters.add(Self.kept)
        let rows = try connection.run(.accessChanges, parameters, by: .patient)
        let isKnown = try rows.bool(0, 2)
        self.init(
            after: isKnown ? version : nil, version: AccessVersion(history: try rows.int64(0, 0), number: try rows.int64(0, 1)))
        for row in 0..<rows.count {
            // Rows of a later version mean nothing to this one.
            guard let kind = AccessRow.Kind(rawValue: rows.text(row, 3)) else { continue }
            let name = rows.text(row, 4)
            if rows.isNull(row, 5) {
                removed.append(AccessRow.Name(kind, name))
            } else {
                self.rows.append(AccessRow(kind, name: name, value: rows.byteArray(row, 5)))
            }
        }
    }
}
#endif
