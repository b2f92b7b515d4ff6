import FreshetClient
import FreshetWire

/// Writes replayed over a value, without the SDK's own code for it.
struct Replay {
    private(set) var value: KeyView.Value

    init(_ value: KeyView.Value) { self.value = value }

    /// Where the value cannot take the operation, it stays.
    mutating func apply(_ operation: WriteOperation) {
        switch operation {
        case .put(let content): value = .content(content)
        case .delete: value = .absent
        case .patch(let patch):
            guard case .content(let content) = value, content.isJSON else { return }
            change { try JSONDocument(content.bytes).merging(try JSONDocument(patch)) }
        case .increment(let increment):
            switch value {
            case .unknown, .elsewhere: return
            case .absent: change { try increment.applied(to: nil) }
            case .content(let content): change { try increment.applied(to: try JSONDocument(content.bytes)) }
            }
        }
    }

    /// Why the increment should not have made this value. Compares the two values themselves, without the code that servers and overlays
    /// share.
    static func flaw(_ increment: Increment, made content: Content?, from before: Content?) -> String? {
        if before == nil, increment.onMissing == .reject { return "it demands a record, and there was none" }
        guard let content, var found = try? JSONDocument(content.bytes) else { return "there is no JSON after it" }
        for step in increment.path.steps {
            guard case .object(let members) = found,
                let member = members.first(where: { $0.name.utf8.elementsEqual(step.utf8) })
            else { return nil }
            found = member.value
        }
        guard case .number(let literal) = found, let sum = JSONNumber(literal: literal) else { return "there is no number after it" }
        if let minimum = increment.minimum, sum < minimum { return "the sum \(sum) is below \(minimum)" }
        if let maximum = increment.maximum, maximum < sum { return "the sum \(sum) is above \(maximum)" }
        return nil
    }

    private mutating func change(_ make: () throws -> JSONDocument) {
        if let document = try? make() { value = .content(Content(checkedJSON: document.bytes)) }
    }

    /// A value for people: text up to 200 bytes as it is, and the beginning of longer text. For bytes that are no text it states the size
    /// and the media type. Where the value is not complete, a hash distinguishes it from others of the same size.
    static func text(_ content: Content?) -> String {
        guard let content else { return "nothing" }
        let bytes = content.bytes
        guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: \.isUnprintable) else {
            return "\(bytes.count) \(bytes.count == 1 ? "byte" : "bytes") of \(content.type), hash \(hash(of: bytes))"
        }
        if bytes.isEmpty { return "0 bytes of \(content.type)" }
        guard bytes.count > 200 else { return text }
        // A character that the limit would cut is left out.
        let end = text.unicodeScalars.index(before: text.utf8.index(text.startIndex, offsetBy: 201))
        return "\(text[..<end])… (\(bytes.count) bytes, hash \(hash(of: bytes)))"
    }

    private static func hash(of bytes: [UInt8]) -> String {
        var digest = RunDigest()
        for byte in bytes { digest.mix(UInt64(byte)) }
        return String(digest.value >> 40, radix: 16)
    }

    static func text(_ value: KeyView.Value) -> String {
        switch value {
        case .content(let content): text(content)
        case .absent: "no record"
        case .elsewhere: "a record whose value is elsewhere"
        case .unknown: "unknown"
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character that a page would show as a box or not at all; tabs and line breaks are none.
    fileprivate var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control: self != "\t" && self != "\n" && self != "\r"
        case .unassigned, .surrogate, .privateUse: true
        default: false
        }
    }
}
