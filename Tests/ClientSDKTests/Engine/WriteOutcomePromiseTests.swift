import FreshetTestSupport
import Testing

@testable import FreshetClient

@Suite struct WriteOutcomePromiseTests {
    @Test func theFirstOutcomeCountsForAllWhoWaitBeforeAndAfter() async throws {
        let promise = WriteOutcomePromise()
        let waiters = (0..<10).map { _ in Task { try await promise.value() } }
        promise.resolve(.success(.confirmed(Sample.revision(7))))
        promise.resolve(.failure(.cleared))
        for waiter in waiters { #expect(try await waiter.value == .confirmed(Sample.revision(7))) }
        #expect(try await promise.value() == .confirmed(Sample.revision(7)))
    }

    @Test func oneWhoGivesUpDoesNotTakeTheOthersAlong() async throws {
        let promise = WriteOutcomePromise()
        let (impatient, patient) = (Task { try await promise.value() }, Task { try await promise.value() })
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await within { try await impatient.value } }
        promise.resolve(.failure(.cleared))
        await #expect(throws: ClientError.cleared) { try await within { try await patient.value } }
    }
}
