/// The public name of a key: 10 characters of `a-z2-7`, 50 bits. Logs and principals show it.
package struct KeyIdentifier: Hashable, Sendable, CustomStringConvertible {
    package static let count = 10

    package let text: String

    /// `nil` for any other text.
    package init?(_ text: String) {
        guard text.utf8.count == Self.count, text.utf8.allSatisfy(Base32.alphabet.contains) else { return nil }
        self.text = text
    }

    package init(using random: inout some RandomNumberGenerator) {
        let letters = Base32.alphabet
        text = String(decoding: (0..<Self.count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }, as: UTF8.self)
    }

    package var description: String { text }
}
