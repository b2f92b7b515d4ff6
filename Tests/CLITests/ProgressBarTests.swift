import Testing

@testable import freshet

struct ProgressBarTests {
    @Test func countsAndSharesAreShown() {
        // Given a bar for the languages of the world
        let bar = ProgressBar(unit: "records", total: 7_910)
        // When a little less than half is done after half a second
        let line = bar.line(done: 3_560, seconds: 0.5, width: 80)
        // Then the share, the counts and the rate stand behind the bar
        #expect(line == "[#############-----------------]  45%  3,560 of 7,910 records  7,120/s")
    }

    @Test(arguments: [Int.min, -14, -1, 0, 10, 40, 79]) func lineNeverExceedsTheTerminal(width: Int) {
        for total in [7_910, nil] {
            #expect(ProgressBar(unit: "records", total: total).line(done: 7_910, seconds: 1, width: width).count <= max(0, width))
        }
    }

    @Test(arguments: [Int.min, -14, -1, 0, 1, 7_911, Int.max]) func anyNumbersGiveALine(done: Int) {
        for total in [Int.min, -1, 0, 1, 7_910, Int.max, nil] as [Int?] {
            for seconds in [-1, 0, .leastNonzeroMagnitude, 1, .infinity, .nan] as [Double] {
                #expect(ProgressBar(unit: "records", total: total).line(done: done, seconds: seconds, width: 80).count <= 80)
            }
        }
        // And less than nothing is nothing
        #expect(ProgressBar(unit: "records", total: 7).line(done: -14, seconds: 1, width: 80).contains("-]   0%  -14 of 7 records"))
    }

    @Test func withoutATotalOnlyWhatIsDoneIsShown() {
        let bar = ProgressBar(unit: "records", total: nil)
        #expect(bar.line(done: 3_560, seconds: 0.5, width: 80) == "3,560 records  7,120/s")
        #expect(bar.line(done: 3_560, seconds: 0.5, width: 5) == "3,560")
    }

    @Test func nothingToDoIsDone() {
        #expect(ProgressBar(unit: "records", total: 0).line(done: 0, seconds: 0, width: 80).contains("100%  0 of 0 records"))
    }
}
