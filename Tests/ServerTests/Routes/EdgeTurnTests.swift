import Testing

@testable import FreshetServer

@Suite("Turns of polls at a shared cache") struct EdgeTurnTests {
    private let caching = EdgeCaching(["*"], hold: 25)

    @Test("Each turn is later than that of its request, whatever the clock says", arguments: [-1, 0, 24_999, 25_000, 1_764_000_000_000])
    func later(now: Int64) {
        for turn: UInt32 in [0, 1, 2, 70_560_000, .max - 1] { #expect(caching.turn(after: turn, at: now) > turn) }
    }

    @Test func afterTheLastOneAnyOtherDiffers() { #expect(caching.turn(after: .max, at: 0) == 1) }

    @Test("Readers whose waits end within one span of time get the same turn")
    func oneSpan() {
        // Given
        let start: Int64 = 25_000 * 70_000_000
        // Then
        #expect(Set([0, 1, 5_000, 24_999].map { caching.turn(after: 0, at: start + $0) }) == [70_000_000])
        // One that comes late joins the others.
        #expect(caching.turn(after: 0, at: start + 30_000) == caching.turn(after: 70_000_000, at: start + 30_000))
    }

    @Test func aTurnIsOfAPositionOnly() {
        #expect(caching.applies(to: nil))
        #expect(!EdgeCaching().applies(to: nil))
        #expect(!EdgeCaching(["key:a"]).applies(to: nil))
    }
}
