/// A path into a JSON value, by RFC 6901: empty for the whole value, or `/` before each step, `~1` for `/`, `~0` for `~`.
///
/// A pointer has at most ``maximumSteps`` steps and ``maximumLength`` bytes. So the objects that an increment makes on
/// its way are never deeper than `JSONReader.maximumDepth`.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// The most steps.
    public static let maximumSteps = 128
    /// The most bytes of the written pointer, as UTF-8.
    public static let maximumLength = 4096

    /// The pointer as it is written.
    public let description: String
    package let steps: [String]

    /// - Throws: ``WireError/unexpectedJSON(_:)`` if the text is not a pointer, or too long.
    public init(_ text: String) throws(WireError) {
        description = text
        guard text.utf8.count <= Self.maximumLength else {
            throw .unexpectedJSON(
                "a JSON pointer takes at most \(Self.maximumLength) bytes, and '\(text.shortened)' has \(text.utf8.count)")
        }
        guard !text.isEmpty else {
            steps = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw .unexpectedJSON("'\(text.shortened)' is no JSON pointer: it begins with /, as in /visits")
        }
        var steps: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var step: [UInt8] = []
            var rest = part[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "~") else {
                    step.append(byte)
                    continue
                }
                switch rest.popFirst() {
                case UInt8(ascii: "0"): step.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): step.append(UInt8(ascii: "/"))
                default: throw .unexpectedJSON("'\(text.shortened)' is no JSON pointer: after ~ comes 0 or 1")
                }
            }
            steps.append(String(decoding: step, as: UTF8.self))
        }
        guard steps.count <= Self.maximumSteps else {
            throw .unexpectedJSON("a JSON pointer takes at most \(Self.maximumSteps) steps, and '\(text.shortened)' has \(steps.count)")
        }
        self.steps = steps
    }
}
