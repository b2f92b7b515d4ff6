import Figures
import Testing

@Suite struct ResultsTests {
    private let old = Results(
        text: """
            # cores: 2
            # Redis: 7.0
            reads-per-s-vs-nginx ours=1.00 peer=2.00 ratio=0.500 date=2026-01-01
            growth-records-1000-feed-ms ours=0.200 date=2026-01-01
            growth-records-10000000-feed-ms ours=0.300 date=2026-01-01

            """)

    @Test func textIsReadAsItWasWritten() {
        #expect(old.figures.count == 3)
        #expect(old.facts == [.init("cores", "2"), .init("Redis", "7.0")])
        #expect(Results(text: old.text) == old)
    }

    @Test func whatWasMeasuredAnewIsReplacedWhereItStandsAndTheRestStays() {
        // When one figure and one fact are measured again, and one of each for the first time
        var merged = old
        merged.merge(
            Results(
                text:
                    "# Redis: 8.0\n# etcd: 3.4\nreads-per-s-vs-nginx ours=3.00 date=2026-02-02\nkit-ready-p50-ms ours=1.00 date=2026-02-02\n"
            ))
        // Then
        #expect(merged.figures.map(\.name) == ["reads-per-s-vs-nginx"] + old.figures.dropFirst().map(\.name) + ["kit-ready-p50-ms"])
        #expect(merged["reads-per-s-vs-nginx"] == Figure("reads-per-s-vs-nginx", ours: 3, date: "2026-02-02"))
        #expect(merged.facts == [.init("cores", "2"), .init("Redis", "8.0"), .init("etcd", "3.4")])
    }

    @Test func ofAFamilyMeasuredAnewNothingOldStays() {
        var merged = old
        merged.merge(Results(text: "growth-records-1000-feed-ms ours=0.100\n"), replacing: ["growth-"])
        #expect(merged.figures.map(\.name) == ["reads-per-s-vs-nginx", "growth-records-1000-feed-ms"])
    }
}
