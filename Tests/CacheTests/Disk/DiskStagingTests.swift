import Testing

@testable import FreshetCache

@Suite struct DiskStagingTests {
    private let staging = DiskStaging()

    private func write(_ number: Int, bytes: Int = 1) -> DiskWrite {
        let key = "\(number)".keyBytes
        let head = DiskRecord.Head(isEncrypted: false, recorded: 0, verified: 0, deadline: DiskDeadline(end: .max, sliding: 0))
        return DiskWrite(
            key: key, number: KeyHash(key), change: .put(bytes: Array(repeating: 0, count: bytes), head: head, tags: []), done: nil)
    }

    @Test func changesAreTakenInOrderAndInBatches() {
        // Given
        for number in 0..<600 { _ = staging.append(write(number), limit: .max) }
        // When
        var batches: [[Int]] = []
        while case let batch = staging.take(through: .max), !batch.isEmpty { batches.append(batch.map(\.order)) }
        // Then
        #expect(batches.map(\.count) == [256, 256, 88])
        #expect(batches.flatMap { $0 } == Array(1...600))
    }

    @Test func aBatchEndsWithTheValueThatMakesItLarge() {
        for number in 0..<3 { _ = staging.append(write(number, bytes: 5 << 20), limit: .max) }
        #expect(staging.take(through: .max).count == 2)
        #expect(staging.take(through: .max).count == 1)
    }

    @Test func changesThatWereStagedLaterAreNotWaitedFor() {
        // Given two batches, the second of which was staged after the call
        for number in 0..<256 { _ = staging.append(write(number), limit: .max) }
        let last = staging.lastOrder
        _ = staging.append(write(256), limit: .max)
        // Then
        #expect(staging.take(through: last).count == 256)
        #expect(staging.take(through: last).isEmpty)
        #expect(staging.take(through: .max).count == 1)
    }

    @Test func aDrainIsScheduledOnceUntilNothingWaits() {
        #expect(staging.append(write(0), limit: .max) == true)
        #expect(staging.append(write(1), limit: .max) == false)
        // When a call takes the values staged before it, and a drain is still to come
        _ = staging.take(through: staging.lastOrder)
        #expect(staging.append(write(2), limit: .max) == false)
        _ = staging.take(through: .max)
        // Then only the drain that finds nothing ends it
        _ = staging.take(through: .max)
        #expect(staging.append(write(3), limit: .max) == true)
    }

    @Test func aTransactionRemovesTheRowsOfAFewFailedWrites() {
        // Given many writes that failed, as on a full disk
        for number in 0..<600 { _ = staging.append(write(number), limit: .max) }
        while case let batch = staging.take(through: .max), !batch.isEmpty {
            staging.finish(batch, batch.map { _ in .failure(.diskFull(path: "/")) })
        }
        #expect(staging.failedCount == 600)
        // When, then
        let first = staging.failed
        #expect(first.count == 256)
        staging.finish([], [], removed: first)
        #expect(staging.failedCount == 344)
        #expect(Set(staging.failed).isDisjoint(with: first))
    }
}
