/// A request: a name and parameters, whose order does not matter.
///
/// ```swift
/// let key = RequestKey("GET /users", ["page": "2", "sort": "name"])
/// ```
public struct RequestKey: Hashable, Sendable, DiskKey, CustomStringConvertible {
    /// The name of the request.
    public let name: String
    /// The parameters by their names.
    public let parameters: [String: String]

    /// Creates a request. Two requests are the same if their names and parameters are equal.
    public init(_ name: String, _ parameters: [String: String] = [:]) {
        self.name = name
        self.parameters = parameters
    }

    /// The name, then the parameters sorted by their names, all escaped: different requests have different bytes. The
    /// requests of one name begin with ``prefix(ofName:)``.
    public func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let pairs = parameters.map { (Self.escaped($0.key), Self.escaped($0.value)) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
        var bytes = Self.prefix(ofName: name)
        for (place, (name, value)) in pairs.enumerated() {
            bytes += (place == 0 ? [] : [UInt8(ascii: "&")]) + name + [UInt8(ascii: "=")] + value
        }
        return try bytes.withUnsafeBytes(body)
    }

    /// The prefix of the bytes of all requests of a name, see ``TwoTierCache/removeAll(withNamePrefix:)``.
    public static func prefix(ofName name: String) -> [UInt8] { escaped(name) + [UInt8(ascii: "?")] }

    /// The request in the form of a URL's query.
    public var description: String { withKeyBytes { String(decoding: $0, as: UTF8.self) } }

    /// Percent-encodes the separators. Equal strings give equal bytes.
    private static func escaped(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text.nameBytes {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "%"):
                bytes += Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
