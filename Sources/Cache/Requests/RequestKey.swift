/// What is asked for: a name and parameters, whose order does not count.
///
/// ```swift
/// let key = RequestKey("GET /users", ["page": "2", "sort": "name"])
/// ```
public struct RequestKey: Hashable, Sendable, DiskKey, CustomStringConvertible {
    /// What is asked for.
    public let name: String
    /// With what; each once.
    public let parameters: [String: String]

    /// A request by name and parameters. Two are the same when names and parameters are equal.
    public init(_ name: String, _ parameters: [String: String] = [:]) {
        self.name = name
        self.parameters = parameters
    }

    /// The name, then the parameters sorted by their names, all escaped: no two requests get the same bytes. Those of one name begin with
    /// ``prefix(ofName:)``.
    public func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let pairs = parameters.map { (Self.escaped($0.key), Self.escaped($0.value)) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
        var bytes = Self.prefix(ofName: name)
        for (place, (name, value)) in pairs.enumerated() {
            bytes += (place == 0 ? [] : [UInt8(ascii: "&")]) + name + [UInt8(ascii: "=")] + value
        }
        return try bytes.withUnsafeBytes(body)
    }

    /// What the bytes of all requests of a name begin with, see ``TwoTierCache/removeAll(withNamePrefix:)``.
    public static func prefix(ofName name: String) -> [UInt8] { escaped(name) + [UInt8(ascii: "?")] }

    /// As a URL's query would look.
    public var description: String { withKeyBytes { String(decoding: $0, as: UTF8.self) } }

    /// Percent signs before all that separates. Strings that are equal give equal bytes.
    private static func escaped(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in canonicalBytes(text) {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "%"):
                bytes += Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
