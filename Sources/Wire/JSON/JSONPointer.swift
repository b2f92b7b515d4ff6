/// A path into a JSON value, by RFC 6901: empty for the whole value, or `/` before each step, `~1` for `/`, `~0` for `~`.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// The pointer as it is written.
    public let description: String
    let steps: [String]

    /// - Throws: ``WireError/unexpectedJSON(_:)`` where the text is no pointer.
    public init(_ text: String) throws(WireError) {
        description = text
        guard !text.isEmpty else {
            steps = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw .unexpectedJSON("'\(text)' is no JSON pointer: it begins with /, as in /visits")
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
                default: throw .unexpectedJSON("'\(text)' is no JSON pointer: after ~ comes 0 or 1")
                }
            }
            steps.append(String(decoding: step, as: UTF8.self))
        }
        self.steps = steps
    }
}
