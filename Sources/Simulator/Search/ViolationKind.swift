/// What two violations have in common that differ in keys, values and numbers alone.
package struct ViolationKind: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The rule.
    package let rule: Rule
    /// The text of the violation, without the parts that differ from run to run.
    package let words: String

    package init(_ violation: Violation) {
        rule = violation.rule
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        words = violation.text.split(separator: " ").compactMap { part -> String? in
            let word = part.drop { $0 == "(" }.prefix { $0 != "," && $0 != ";" && $0 != ")" }
            return !word.isEmpty && word.utf8.allSatisfy { letters.contains($0 | 0x20) || $0 == UInt8(ascii: "'") }
                ? String(word) : nil
        }.joined(separator: " ")
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.rule.rawValue, left.words) < (right.rule.rawValue, right.words)
    }

    package var description: String { "\(rule): \(words)" }
}
