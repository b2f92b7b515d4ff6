import FreshetWire

/// The records of one JSON document: an array of objects, or an object that holds one such array. The whole document is in memory.
struct ImportFile: ImportSource, Hashable, Sendable {
    let records: [ImportRecord]
    private var place = 0

    /// Reads the document. Each element's value is its JSON without white space between tokens.
    /// - Throws: ``CommandFailure`` that states which element is wrong and how to fix it.
    init(_ bytes: [UInt8], rules: ImportRules) throws(CommandFailure) {
        let values: [[UInt8]]
        do {
            values = try Self.array(of: bytes)
        } catch let error as WireError {
            throw CommandFailure(.data, error.description)
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.software, "\(error)")
        }
        var records: [ImportRecord] = []
        records.reserveCapacity(values.count)
        for value in values { records.append(try rules.record(value, at: ImportPosition(format: .json, number: records.count + 1))) }
        self.records = records
    }

    mutating func next() -> ImportRecord? {
        guard place < records.count else { return nil }
        defer { place += 1 }
        return records[place]
    }

    private static func array(of bytes: [UInt8]) throws -> [[UInt8]] {
        try JSONReader.validate(bytes)
        if let values = elements(of: bytes) { return values }
        var reader = JSONReader(bytes)
        guard (try? reader.beginObject()) != nil else {
            throw CommandFailure(.data, "the file holds neither a JSON array nor an object that holds one")
        }
        var found: [(name: String, values: [[UInt8]])] = []
        while let name = try reader.nextMember() {
            if let values = elements(of: try reader.rawValue()) { found.append((name.text, values)) }
        }
        guard let first = found.first else { throw CommandFailure(.data, "the file's object holds no array of records") }
        guard found.count == 1 else {
            let names = found.map { "'\($0.name)'" }.joined(separator: ", ")
            throw CommandFailure(.data, "the file's object holds several arrays, \(names): give a file that holds the one to import")
        }
        return first.values
    }

    /// The elements of valid JSON that is an array; `nil` if it is something else.
    private static func elements(of bytes: [UInt8]) -> [[UInt8]]? {
        var reader = JSONReader(bytes)
        do {
            try reader.beginArray()
            var values: [[UInt8]] = []
            while try reader.nextElement() { values.append(try reader.rawValue()) }
            return values
        } catch {
            return nil
        }
    }
}
