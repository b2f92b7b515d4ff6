/// Each is coded as one value, in the form that it has on the wire, so that an app can store it with other data.
extension RecordKey: Codable {
    /// Reads `collection/id`.
    /// - Throws: `DecodingError.dataCorrupted` if the text is no key.
    public init(from decoder: any Decoder) throws {
        self = try decoder.wireText { text throws(WireError) in try RecordKey(text) }
    }

    /// Writes `collection/id`.
    public func encode(to encoder: any Encoder) throws { try encoder.encodeText(description) }
}

extension Cursor: Codable {
    /// Reads `<epoch>-<revision>`.
    /// - Throws: `DecodingError.dataCorrupted` if the text is no cursor.
    public init(from decoder: any Decoder) throws {
        self = try decoder.wireText { text throws(WireError) in try Cursor(text) }
    }

    /// Writes `<epoch>-<revision>`.
    public func encode(to encoder: any Encoder) throws { try encoder.encodeText(description) }
}

extension Revision: Codable {
    /// Reads a number.
    /// - Throws: `DecodingError.dataCorrupted` unless the number is within 0 … 2^53−1.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let number = try container.decode(Int64.self)
        guard let revision = Revision(number) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(number) is no revision: it takes 0 to 2^53-1")
        }
        self = revision
    }

    /// Writes the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

extension Timestamp: Codable {
    /// Reads RFC 3339 with milliseconds in UTC, as ``description`` writes it.
    /// - Throws: `DecodingError.dataCorrupted` for another form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let timestamp = Timestamp(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "'\(text.shortened)' is no time: it takes a form like 2026-11-21T15:34:05.250Z")
        }
        self = timestamp
    }

    /// Writes RFC 3339 with milliseconds in UTC.
    public func encode(to encoder: any Encoder) throws { try encoder.encodeText(description) }
}

extension Decoder {
    fileprivate func wireText<Value>(_ parse: (String) throws(WireError) -> Value) throws -> Value {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        do throws(WireError) {
            return try parse(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }
}

extension Encoder {
    fileprivate func encodeText(_ text: String) throws {
        var container = singleValueContainer()
        try container.encode(text)
    }
}
