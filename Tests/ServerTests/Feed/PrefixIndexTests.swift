import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Groups by prefixes of ids") struct PrefixIndexTests {
    /// Texts of few letters, so that many begin with one another.
    private static func text(_ random: inout SeededGenerator) -> String {
        let letters = ["a", "b", "é"]
        return (0..<Int.random(in: 0...6, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" }.joined()
    }

    @Test("finds the groups that a comparison with every prefix finds", arguments: 0..<16 as Range<UInt64>)
    func agreesWithComparison(seed: UInt64) {
        // Given
        var random = SeededGenerator(seed: seed)
        var index = PrefixIndex()
        var groups: [(group: Int32, prefix: String)] = []
        for number in 0..<400 as Range<Int32> {
            // When groups come and go
            if groups.count > 40 || !groups.isEmpty && Bool.random(using: &random) {
                let gone = groups.remove(at: Int.random(in: 0..<groups.count, using: &random))
                index.remove(gone.group, gone.prefix.utf8)
            } else {
                let prefix = Self.text(&random)
                groups.append((number, prefix))
                index.insert(number, prefix.utf8)
            }
            // Then
            let text = Self.text(&random)
            var (shorter, longer): ([Int32], [Int32]) = ([], [])
            index.find(prefixesOf: text, into: &shorter)
            index.find(longerThan: text, into: &longer)
            #expect(shorter.sorted() == groups.filter { text.utf8.starts(with: $0.prefix.utf8) }.map(\.group).sorted())
            let begun = groups.filter { $0.prefix.utf8.starts(with: text.utf8) && $0.prefix.utf8.count > text.utf8.count }
            #expect(longer.sorted() == begun.map(\.group).sorted())
            #expect(index.isEmpty == groups.isEmpty)
        }
    }
}
