import Testing

@testable import FreshetCache

/// Parses the kernel's texts.
@Suite struct MemoryReadingTests {
    @Test func stallsAreReadFromTheirFile() {
        let text = "some avg10=0.12 avg60=0.00 avg300=0.00 total=1140132\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=243046\n"
        #expect(PSITotals(text) == PSITotals(some: 1_140_132, full: 243_046))
        #expect(PSITotals("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n") == PSITotals(some: 5, full: 0))
        for other in [
            "", "\n", "some", "some total=x", "full avg10=0 total=5", "MemTotal: 5 kB", "some avg10=0 total=99999999999999999999",
        ] {
            #expect(PSITotals(other) == nil, "\(other)")
        }
    }

    @Test(arguments: [
        (0, 0, PressureLevel.calm), (499_999, 0, .calm), (500_000, 0, .warning), (5_000_000, 0, .warning), (500_000, 249_999, .warning),
        (500_000, 250_000, .critical), (0, 250_000, .critical), (9_000_000, 9_000_000, .critical),
    ]) func stallsAreJudgedByTheirShareOfTime(some: Int, full: Int, level: PressureLevel) {
        // Given counters that were read five seconds ago
        var reader = PSIReader()
        #expect(reader.read(PSITotals(some: 7_000_000, full: 7_000_000), at: .seconds(100)) == .calm)
        // When
        let totals = PSITotals(some: 7_000_000 + UInt64(some), full: 7_000_000 + UInt64(full))
        // Then
        #expect(reader.read(totals, at: .seconds(105)) == level)
        #expect(reader.read(totals, at: .seconds(110)) == .calm)
        #expect(reader.read(PSITotals(some: .max, full: .max), at: .seconds(110)) == .calm)
        #expect(reader.read(PSITotals(some: 0, full: 0), at: .seconds(111)) == .calm)
    }

    @Test func usageIsWhatCannotBeTakenBack() {
        let statistics = "anon 1000\nfile 5000\ninactive_file 3000\nactive_file 1000\nslab_reclaimable 500\nslab 700\n"
        func usage(_ current: String, _ high: String, _ max: String) -> MemoryUsage? {
            MemoryUsage(current: current, high: high, max: max, statistics: statistics)
        }
        #expect(usage("6000\n", "8000\n", "10000\n") == MemoryUsage(used: 1_500, limit: 8_000))
        #expect(usage("6000\n", "max\n", "10000\n") == MemoryUsage(used: 1_500, limit: 10_000))
        #expect(usage("100\n", "max\n", "10000\n") == MemoryUsage(used: 0, limit: 10_000))
        #expect(usage("6000\n", "max\n", "max\n") == nil)
        #expect(usage("", "1\n", "1\n") == nil)
        #expect(usage("6000\n", "", "") == nil)
        #expect(MemoryUsage(current: "9", high: "max", max: "9", statistics: "inactive_file 99999999999999999999\nx\n\n")?.percent == 100)
    }

    @Test func aGroupOfVersionOneIsReadToo() {
        let statistics = "cache 5\ninactive_file 1\ntotal_inactive_file 300\ntotal_active_file 200\n"
        let limited = MemoryUsage(usage: "1000\n", limit: "2000\n", statistics: statistics)
        #expect(limited == MemoryUsage(used: 500, limit: 2_000))
        #expect(MemoryUsage(usage: "1000\n", limit: "9223372036854771712\n", statistics: statistics) == nil)
    }

    @Test func theMachinesMemoryIsReadFromItsFile() {
        let machine = MemoryUsage(machine: "MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    80 kB\nHugePages: 0\n")
        #expect(machine == MemoryUsage(used: 920 << 10, limit: 1_000 << 10) && machine?.level == .warning)
        for text in ["", "MemTotal: 0 kB\nMemAvailable: 0 kB\n", "MemTotal: 5 kB\n"] { #expect(MemoryUsage(machine: text) == nil) }
        #expect(MemoryUsage(machine: "MemTotal: 5 kB\nMemAvailable: 9 kB\n")?.percent == 0)
    }

    @Test(arguments: [
        (0, PressureLevel.calm), (79, .calm), (80, .tense), (89, .tense), (90, .warning), (96, .warning), (97, .critical), (100, .critical),
        (5_000, .critical),
    ]) func usageIsJudgedByItsShareOfTheLimit(percent: Int, level: PressureLevel) {
        #expect(MemoryUsage(used: UInt64(percent) * 10, limit: 1_000).level == level)
    }

    @Test func aLimitOfNothingIsReached() { #expect(MemoryUsage(used: 0, limit: 0).level == .critical) }

    @Test func killsAreCounted() {
        #expect(MemoryKills("low 0\nhigh 7\nmax 9\noom 3\noom_kill 2\n")?.count == 3)
        #expect(MemoryKills("low 0\nhigh 7\n") == nil)
    }
}
