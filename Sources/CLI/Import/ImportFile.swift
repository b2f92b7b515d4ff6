import FreshetWire

/// The records of a JSON file: an array of objects, or an object that holds one such array.
struct ImportFile: Hashable, Sendable {
    /// One element of the array.
    struct Element: Hashable, Sendable {
        let key: RecordKey
        /// Its JSON without the white space that the file had for people.
        let value: [UInt8]
    }

    let elements: [Element]

    /// Takes the file's elements; each one's id is what it holds under `idField`, a text or a number.
    /// - Throws: ``CommandFailure`` that says which element is wrong and what it takes.
    init(_ bytes: [UInt8], collection: String, idField: String) throws(CommandFailure) {
        do {
            let values = try Self.array(of: bytes)
            var elements: [Element] = []
            elements.reserveCapacity(values.count)
            for (index, value) in values.enumerated() {
                guard let id = try Self.id(of: value, under: idField) else {
                    throw CommandFailure(
                        .data, "element \(index + 1) has no text or number under '\(idField)': name a field that all have with --id-field")
                }
                elements.append(Element(key: try RecordKey(collection: collection, id: id), value: try JSONDocument(value).bytes))
            }
            self.elements = elements
        } catch let error as WireError {
            throw CommandFailure(.data, error.description)
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.software, "\(error)")
        }
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

    private static func id(of value: [UInt8], under field: String) throws(WireError) -> String? {
        var reader = JSONReader(value)
        guard (try? reader.beginObject()) != nil else { return nil }
        var id: String?
        while let name = try reader.nextMember() {
            guard name.text == field else {
                try reader.skip()
                continue
            }
            let bytes = try reader.rawValue()
            var text = JSONReader(bytes)
            var number = JSONReader(bytes)
            id = (try? text.string()) ?? (try? number.number())
        }
        return id
    }
}
