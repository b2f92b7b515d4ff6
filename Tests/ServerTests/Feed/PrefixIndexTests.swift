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
                index.remove(gone.group, Array(gone.prefix.utf8))
            } else {
                let prefix = Self.text(&random)
                groups.append((number, prefix))
                index.insert(number, Array(prefix.utf8))
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

    @Test("finds the groups of nested prefixes that a comparison with every prefix finds", arguments: 0..<16 as Range<UInt64>)
    func agreesWithComparisonOfNestedPrefixes(seed: UInt64) {
        // Given prefixes that mostly begin with one another, longer than a word
        var random = SeededGenerator(seed: seed)
        func text() -> String {
            let start = String(repeating: "a", count: Int.random(in: 0...40, using: &random))
            return Bool.random(using: &random) ? start : start + Self.text(&random)
        }
        var index = PrefixIndex()
        var groups: [(group: Int32, prefix: String)] = []
        for number in 0..<600 as Range<Int32> {
            // When groups come and go
            if groups.count > 80 || !groups.isEmpty && Int.random(in: 0..<3, using: &random) == 0 {
                let gone = groups.remove(at: Int.random(in: 0..<groups.count, using: &random))
                index.remove(gone.group, Array(gone.prefix.utf8))
            } else {
                let prefix = text()
                groups.append((number, prefix))
                index.insert(number, Array(prefix.utf8))
            }
            // Then
            let id = text()
            var (shorter, longer): ([Int32], [Int32]) = ([], [])
            index.find(prefixesOf: id, into: &shorter)
            index.find(longerThan: id, into: &longer)
            #expect(shorter.sorted() == groups.filter { id.utf8.starts(with: $0.prefix.utf8) }.map(\.group).sorted())
            let begun = groups.filter { $0.prefix.utf8.starts(with: id.utf8) && $0.prefix.utf8.count > id.utf8.count }
            #expect(longer.sorted() == begun.map(\.group).sorted())
            let prefixes = Set(groups.map { Array($0.prefix.utf8) }.filter { !$0.isEmpty })
            #expect(index.nodeCount >= prefixes.count && index.nodeCount <= 2 * prefixes.count)
        }
        // When all groups have gone
        for gone in groups { index.remove(gone.group, Array(gone.prefix.utf8)) }
        // Then no node is left
        #expect(index.isEmpty && index.nodeCount == 0)
    }

    @Test("a prefix of many others takes few steps to insert and to remove", arguments: [false, true], [false, true])
    func nestedPrefixesTakeFewSteps(insertsShortestFirst: Bool, removesShortestFirst: Bool) {
        // Given 500 prefixes that part at their ends, and 490 that these and one another begin with
        let start = [UInt8](repeating: UInt8(ascii: "a"), count: 509)
        let ends = (0..<500).map { number -> [UInt8] in start + Array(String(1_000 + number).utf8.dropFirst()) }
        let nested = (19...508).map { length -> [UInt8] in Array(start.prefix(length)) }
        let prefixes = ends + nested
        let places = Array(ends.indices)
        let shortestFirst = Array(ends.count..<prefixes.count)
        let longestFirst = Array(shortestFirst.reversed())
        var index = PrefixIndex()
        // When all are inserted
        for number in places + (insertsShortestFirst ? shortestFirst : longestFirst) {
            index.insert(Int32(number), prefixes[number])
        }
        // Then an id finds those that it begins with
        var found: [Int32] = []
        index.find(prefixesOf: String(repeating: "a", count: 512), into: &found)
        #expect(found.sorted() == shortestFirst.map { Int32($0) })
        // When all are removed
        for number in (removesShortestFirst ? shortestFirst : longestFirst) + places {
            index.remove(Int32(number), prefixes[number])
        }
        // Then the steps are a few for each
        #expect(index.isEmpty && index.nodeCount == 0)
        #expect(index.steps <= 4 * prefixes.count)
    }
}
