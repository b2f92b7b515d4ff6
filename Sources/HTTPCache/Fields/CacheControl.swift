package import HTTPTypes

/// The directives of `Cache-Control`, in a request or a response (RFC 9111 §5.2).
///
/// Parses conservatively: names in either case, arguments as tokens or quoted, unknown directives kept and ignored. A
/// directive that grants something counts as present even if it is ill-formed or contradicts itself; its number is then
/// ``Seconds/invalid``. A directive that forbids something applies however it is spelled.
package struct CacheControl: Hashable, Sendable {
    /// One directive, its name in lower case.
    package struct Directive: Hashable, Sendable {
        package let name: String
        package let argument: Argument
    }

    package enum Argument: Hashable, Sendable {
        case none
        /// Without quotes, if there were any.
        case text(String)
        case malformed
    }

    /// A directive's number of seconds.
    package enum Seconds: Hashable, Sendable {
        /// At most ``CacheControl/mostSeconds``.
        case valid(Int64)
        /// Not a number, or several that differ.
        case invalid
    }

    /// The value of greater numbers: 2³¹, as in RFC 9111 §1.2.2.
    package static let mostSeconds: Int64 = 1 << 31

    package let directives: [Directive]

    /// - Parameter fields: the fields of a request or a response; several lines of the field are combined.
    package init(_ fields: HTTPFields) {
        directives = fields[values: .cacheControl].flatMap { line in
            var parser = CacheControlParser(line)
            return parser.directives()
        }
    }

    /// Whether there is no directive, not even an unknown one.
    package var isEmpty: Bool { directives.isEmpty }

    /// Whether there is a directive of a name, with any argument.
    package func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// The number of a directive; `nil` if there is no such directive.
    package func seconds(_ name: String) -> Seconds? {
        var result: Seconds?
        for directive in directives where directive.name == name {
            guard case .text(let text) = directive.argument, let number = Self.deltaSeconds(text) else { return .invalid }
            if let result, result != .valid(number) { return .invalid }
            result = .valid(number)
        }
        return result
    }

    /// The number of a directive, only if it is valid.
    package func validSeconds(_ name: String) -> Int64? {
        guard case .valid(let seconds) = seconds(name) else { return nil }
        return seconds
    }

    /// Parses digits alone, of any number.
    package static func deltaSeconds(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in text.utf8 {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = min(value * 10 + Int64(byte - 0x30), mostSeconds)
        }
        return value
    }
}

/// Parses one field line.
private struct CacheControlParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ line: String) { bytes = Array(line.utf8) }

    mutating func directives() -> [CacheControl.Directive] {
        var result: [CacheControl.Directive] = []
        while position < bytes.count {
            skip { $0 == 0x2C || $0 == 0x20 || $0 == 0x09 }
            let name = token()
            guard !name.isEmpty else {
                skip { $0 != 0x2C }
                continue
            }
            var argument = argument()
            skip { $0 == 0x20 || $0 == 0x09 }
            if position < bytes.count, bytes[position] != 0x2C {
                argument = .malformed
                skip { $0 != 0x2C }
            }
            result.append(CacheControl.Directive(name: name.lowercased(), argument: argument))
        }
        return result
    }

    private mutating func argument() -> CacheControl.Argument {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { return .none }
        position += 1
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            let text = token()
            return text.isEmpty ? .malformed : .text(text)
        }
        let start = position
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return .text(String(decoding: text, as: UTF8.self)) }
            guard byte == UInt8(ascii: "\\"), position < bytes.count else {
                text.append(byte)
                continue
            }
            text.append(bytes[position])
            position += 1
        }
        // The quotation has no end. The text after the next comma is parsed separately, so that no `no-store` is
        // missed.
        position = start + 1
        skip { $0 != 0x2C }
        return .malformed
    }

    private mutating func token() -> String {
        let start = position
        skip(while: \.isTokenCharacter)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while position < bytes.count, condition(bytes[position]) { position += 1 }
    }
}

extension UInt8 {
    /// Whether the byte is allowed in a token, RFC 9110 §5.6.2.
    var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
