package import HTTPTypes

/// The fields of a request by which its response was selected (RFC 9111 §4.1).
package struct VarySelection: Hashable, Sendable {
    /// A field's name in lower case, and its value; `nil` if the request had no such field. Each byte of the value is
    /// one scalar (ISO 8859-1), so that different bytes that are not UTF-8 stay different.
    struct Field: Hashable, Sendable {
        let name: String
        let value: String?
    }

    let fields: [Field]

    init(fields: [Field]) { self.fields = fields }

    init(names: [String], of request: HTTPRequest) {
        fields = names.map { Field(name: $0, value: Self.value($0, of: request)) }
    }

    /// Whether the response matches every request.
    var isEmpty: Bool { fields.isEmpty }

    /// Whether a request has the same selecting fields.
    package func matches(_ request: HTTPRequest) -> Bool { fields.allSatisfy { Self.value($0.name, of: request) == $0.value } }

    /// The lines of one name, joined. Other spellings with the same meaning count as different.
    private static func value(_ name: String, of request: HTTPRequest) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        let lines = request.headerFields[fields: name].map { line in
            line.withUnsafeBytesOfValue { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) }
        }
        return lines.isEmpty ? nil : lines.map { $0[...].trimmingSpaces }.joined(separator: ", ")
    }
}
