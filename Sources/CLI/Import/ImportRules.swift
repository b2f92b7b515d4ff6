import FreshetWire

/// How an object of a file becomes a record.
struct ImportRules: Hashable, Sendable {
    /// The collection to write to; `nil` for that of each record's own key.
    var collection: String?
    /// The member that is the id of an object that is a value. Without it, each object is a record as `export` prints it.
    var idField: String?

    /// Reads one object.
    /// - Throws: ``CommandFailure`` that names the place and the expected content.
    func record(_ json: [UInt8], at place: ImportPosition) throws(CommandFailure) -> ImportRecord {
        do throws(WireError) {
            if let idField, let collection { return try value(json, idField: idField, collection: collection, place) }
            return try exported(json, place)
        } catch {
            throw CommandFailure(.data, "\(place): \(error.description)")
        }
    }

    /// The key that a file gives, in the collection to write to.
    func key(_ text: String) throws(WireError) -> RecordKey {
        let key = try RecordKey(text)
        guard let collection else { return key }
        return try RecordKey(collection: collection, id: key.id)
    }

    /// An object that is a value, with its id among its members. White space between tokens is left out.
    private func value(
        _ json: [UInt8], idField: String, collection: String, _ place: ImportPosition
    ) throws(WireError) -> ImportRecord {
        guard let id = try Self.id(of: json, under: idField) else {
            throw .unexpectedJSON("there is no text or number under '\(idField)': name a member that all have with --id-field")
        }
        let content = Content(checkedJSON: try JSONDocument(json).bytes)
        return ImportRecord(key: try RecordKey(collection: collection, id: id), content: content, place: place)
    }

    private static func id(of value: [UInt8], under field: String) throws(WireError) -> String? {
        var reader = JSONReader(value)
        guard (try? reader.beginObject()) != nil else { return nil }
        var id: String?
        while let name = try reader.nextMember() {
            guard name.text.utf8.elementsEqual(field.utf8) else {
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

    /// A record object: `key`, and `value` or `body`. Other members are passed over.
    private func exported(_ json: [UInt8], _ place: ImportPosition) throws(WireError) -> ImportRecord {
        var reader = JSONReader(json, profile: .interoperable)
        var key: RecordKey?
        var content: Content?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "key": key = try self.key(try reader.string())
            case "value", "body":
                guard content == nil else { throw .unexpectedJSON("a record has 'value' or 'body', not both") }
                content = name == "value" ? Content(checkedJSON: try reader.rawValue()) : try Self.body(&reader)
            default: try reader.skip()
            }
        }
        try reader.end()
        guard let key else {
            throw .unexpectedJSON(
                "there is no 'key': a record is an object as `freshet export` prints it; "
                    + "for other objects give --collection, and the member that is the id with --id-field")
        }
        guard let content else { throw .unexpectedJSON("\(key) has neither 'value' nor 'body'") }
        return ImportRecord(key: key, content: content, place: place)
    }

    private static func body(_ reader: inout JSONReader) throws(WireError) -> Content {
        let content = try Content.body(&reader)
        if content.isJSON { try JSONReader.validate(content.bytes) }
        return content
    }
}
