import Figures
import Testing

@Suite struct StatisticsTests {
    @Test func theMedianIsTheMiddle() {
        #expect(Statistics.median([]) == nil)
        #expect(Statistics.median([3]) == 3)
        #expect(Statistics.median([9, 1, 5]) == 5)
        #expect(Statistics.median([4, 1, 2, 100]) == 3)
    }

    @Test func aPercentileIsTheLeastThatReachesItsShare() {
        let values = (1...100).map { Double($0) }.shuffled()
        #expect(Statistics.percentile(0.99, of: values) == 99)
        #expect(Statistics.percentile(0.5, of: values) == 50)
        #expect(Statistics.percentile(0, of: values) == 1)
        #expect(Statistics.percentile(1, of: values) == 100)
        #expect(Statistics.percentile(0.99, of: [7]) == 7)
        #expect(Statistics.percentile(0.5, of: []) == nil)
    }
}
