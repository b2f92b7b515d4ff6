import FreshetTestSupport
import Testing

/// Server and devices are killed with `SIGKILL` in the middle of a stream of writes, and started again until all writes
/// are decided.
///
/// Each of a device's writes has a number, and each number has one effect: a counter grows by one, or a note appears.
/// So the counters and notes together must be as many as the devices' numbers, even if requests or answers were lost or
/// repeated.
@Suite("Exactly once, whichever process is killed", .serialized)
struct KillTests {
    @Test("the sum is right and nothing acknowledged is lost", .timeLimit(.minutes(5)), arguments: 0..<SoakScale.kills)
    func exactlyOnce(seed: Int) async throws {
        // Given a server and two devices, each in a separate process
        let folder = TemporaryDirectory()
        let run = KillRun(seed: UInt64(seed), folder: folder.path)
        // When they are killed at random points of the stream
        let report = try await run.perform()
        // Then every write has had its effect once, and every record answered with 200 exists
        #expect(report.numbers.allSatisfy { $0 >= run.writes }, "each device has made its writes: \(report)")
        #expect(report.sumOfCounters + report.notes == report.numbers.reduce(0, +), "each number has one effect: \(report)")
        #expect(report.lost.isEmpty, "answered 200 and not there: \(report.lost)")
        #expect(report.kills > 0)
    }
}
