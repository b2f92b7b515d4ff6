import Figures
import Testing

@Suite struct LoadReportTests {
    @Test func fanOutTellsCostLatencyAndMemory() throws {
        let report = try #require(
            LoadReport.FanOut(
                """
                n=1000 m=60 delivered=60000 lost=2 rate=81000/s p50=6.10ms p99=12.40ms last-subscriber median=11.90ms worst=30.00ms \
                server-cpu=9.20us/delivery idle-rss=1.25KiB/conn rss-end=20MiB bytes/delivery=300
                """))
        #expect(report.cost == 9.2)
        #expect(report.median == 6.1)
        #expect(report.p99 == 12.4)
        #expect(report.last == 11.9)
        #expect(report.memory == 1.25)
        #expect(report.lost == 2)
        #expect(LoadReport.FanOut("connect: Connection refused") == nil)
    }

    @Test func wrkTellsARateOnlyIfAllWentWell() {
        let good = "  200000 requests in 2.00s, 40.00MB read\nRequests/sec: 100123.45\nTransfer/sec:     20.00MB\n"
        #expect(LoadReport.wrk(good) == 100_123.45)
        #expect(LoadReport.wrk(good + "  Non-2xx or 3xx responses: 12\n") == nil)
        #expect(LoadReport.wrk("  Socket errors: connect 0, read 3, write 0, timeout 0\n" + good) == nil)
        #expect(LoadReport.wrk("") == nil)
    }

    @Test func h2loadTellsARateOnlyIfAllWentWell() {
        let good = """
            finished in 1.03s, 29126.21 req/s, 2.11MB/s
            requests: 30000 total, 30000 started, 30000 done, 30000 succeeded, 0 failed, 0 errored, 0 timeout
            """
        #expect(LoadReport.h2load(good) == 29_126.21)
        #expect(LoadReport.h2load(good.replacing(" 0 failed", with: " 7 failed")) == nil)
        #expect(LoadReport.h2load("") == nil)
    }

    @Test func redisBenchmarkRedrawsItsLine() {
        #expect(LoadReport.redis("SET: rps=0.0 (overall: nan)\rSET: 81234.57 requests per second, p50=0.700 msec\n") == 81_234.57)
        #expect(LoadReport.redis("Could not connect\n") == nil)
    }
}
