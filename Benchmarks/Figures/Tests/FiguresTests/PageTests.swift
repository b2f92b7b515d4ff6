import Figures
import Testing

@Suite struct PageTests {
    private let results = Results(
        text: """
            # processor: 2 × A|B
            writes-puts-per-s-vs-etcd ours=60000 peer=30000 ratio=2.00 date=2026-01-01
            growth-records-1000-feed-ms ours=0.200
            growth-records-1000000-feed-ms ours=0.400
            growth-waiters-1-feed-ms ours=0.500
            cache-get-ns ours=10.0 peer=20.0 ratio=0.500
            cache-hit-vs-nscache-ns ours=150.0 peer=600.0 ratio=0.250
            cache-hit-ratio-zipf-1000-vs-lru ours=58.3 peer=48.9 ratio=1.19
            disk-open-1000000-ms ours=1.33 peer=0.62 ratio=2.14
            postgresql-puts-per-s-vs-pgbench ours=20000 peer=7000 ratio=2.86

            """)

    @Test func eachFigureIsARowUnderItsComparison() {
        let page = MarkdownTable.render(results, charts: ["growth": ("performance-growth.svg", "Growth")])
        #expect(page.contains("| processor | 2 × A\\|B |"))
        #expect(
            page.contains("| `PUT`, each answered after its fsync | /s | 60,000 | 30,000 | 2.00 | ≥ 1.5 | etcd | 2026-01-01 |"), "\(page)")
        #expect(page.contains("### Growth\n\n![Growth](performance-growth.svg)\n"))
        #expect(page.contains("| 1,000,000 records: a `PUT` to the waiting poll's answer | ms | 0.400 |"))
        #expect(page.contains("| 1 waiting: a `PUT` to a waiting poll's answer | ms | 0.500 |"))
        #expect(page.contains("| cache-get-ns |"))
        #expect(page.contains("| in memory: a read | ns | 150 | 600 | 0.250 |  | NSCache |"))
        #expect(page.contains("| in memory, 1,000 entries: reads that hit, `zipf` | % | 58.3 | 48.9 | 1.19 |  | LRU of libcachesim |"))
        #expect(page.contains("| on disk, 1,000,000 entries: opened and one read | ms | 1.33 | 0.620 | 2.14 |  | itself, 10,000 entries |"))
        #expect(page.contains("| `PUT` into one namespace | /s | 20,000 | 7,000 | 2.86 | ≥ 2 | `pgbench -N` |"))
        #expect(!page.contains("### Reads"))
    }

    @Test func onlyWhatIsBetweenTheMarkersIsReplaced() {
        let page = "before\n\(MarkdownTable.begin)\nold\n\(MarkdownTable.end)\nafter\n"
        let once = MarkdownTable.insert("new", into: page)
        #expect(once == "before\n\(MarkdownTable.begin)\nnew\n\(MarkdownTable.end)\nafter\n")
        #expect(once.flatMap { MarkdownTable.insert("new", into: $0) } == once)
        #expect(MarkdownTable.insert("new", into: "no markers") == nil)
        #expect(MarkdownTable.insert("new", into: "\(MarkdownTable.end) \(MarkdownTable.begin)") == nil)
    }

    @Test func ratiosBecomeBarsWhoseColourSaysWhoIsBetter() throws {
        let chart = try #require(RatioChart.svg(results, comparisons: ["writes"]))
        #expect(chart.hasPrefix("<svg "))
        #expect(chart.components(of: "class=\"better\"") == 1)
        #expect(chart.components(of: "class=\"worse\"") == 0)
        #expect(RatioChart.svg(results, comparisons: ["reads"]) == nil)
    }

    @Test func growthBecomesAPanelForEachThingMeasured() throws {
        let chart = try #require(GrowthChart.svg(results))
        #expect(chart.components(of: "<polyline") == 2)
        #expect(chart.components(of: "<circle") == 3)
        #expect(chart.contains(">feed latency, ms, by records<"))
        #expect(GrowthChart.svg(Results()) == nil)
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
