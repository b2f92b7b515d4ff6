import Figures
import Testing

@Suite struct FigureTests {
    @Test func roundsBecomeMediansAndTheRatioIsThatOfEachRound() throws {
        // Given three rounds, the second of them disturbed for both
        let figure = try #require(Figure("x", ours: [10, 40, 12], peer: [20, 80, 20]))
        // Then medians stand for each side, and the ratio is the median of 0.5, 0.5 and 0.6
        #expect(figure == Figure("x", ours: 12, peer: 20, ratio: 0.5))
    }

    @Test func aPeerThatWasNotThereInEachRoundIsLeftOut() {
        #expect(Figure("x", ours: [1, 2, 3], peer: [1, 2]) == Figure("x", ours: 2))
        #expect(Figure("x", ours: [1], peer: []) == Figure("x", ours: 1))
        #expect(Figure("x", ours: [], peer: []) == nil)
    }

    @Test(arguments: [
        Figure("a-b", ours: 81_234, peer: 40_000, ratio: 2.03), Figure("a", ours: 0.0123), Figure("a", ours: 5, date: "2026-01-31"),
        Figure("a", ours: 0, peer: 0),
    ]) func aLineIsReadAsItWasWritten(figure: Figure) { #expect(Figure(line: figure.line) == figure) }

    @Test func whatIsNoFigureIsNoLine() {
        #expect(Figure(line: "cache-get is left out: it takes python3") == nil)
        #expect(Figure(line: "") == nil)
        #expect(Figure(line: "x peer=3") == nil)
        #expect(Figure(line: "x ours=3 peer=left-out ratio=left-out") == Figure("x", ours: 3))
    }

    @Test(arguments: [
        (81_234.4, "81234"), (99.96, "100.0"), (12.34, "12.3"), (1.234, "1.23"), (0.1234, "0.123"), (0.01234, "0.0123"), (0, "0.000"),
        (-2.5, "-2.50"),
    ]) func digitsAreThoseThatMatter(value: Double, text: String) { #expect(Digits.text(value) == text) }

    @Test(arguments: [(999.0, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (12.5, "12.5"), (0, "0"), (-12_345, "-12,345")])
    func thousandsAreApart(value: Double, text: String) { #expect(Digits.grouped(value) == text) }
}
