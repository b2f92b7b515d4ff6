import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Recent changes") struct RecentChangesTests {
    private typealias Support = FeedSupport

    private func recent(changes: Int = 4_096, bytes: Int = 8 << 20) -> RecentChanges {
        var limits = FeedLimits()
        limits.changes = changes
        limits.bytes = bytes
        return RecentChanges(floor: .zero, limits: limits)
    }

    private func revisions(_ recent: RecentChanges, after revision: Int64 = 0) -> [Int64] {
        recent.places(after: Support.revision(revision)).filter { recent.scope(at: $0) != nil }.map { recent.revision(at: $0).number }
    }

    @Test func theOldestGoAndTheFloorRisesOverThem() throws {
        // Given
        var recent = recent(changes: 3)
        // When
        for revision in 1...5 as ClosedRange<Int64> {
            recent.append(try Support.put(revision, "a/\(revision)"))
            recent.trim()
        }
        // Then
        #expect(recent.floor.number == 2)
        #expect(revisions(recent, after: 2) == [3, 4, 5])
        #expect(recent.count == 3)
    }

    @Test func aRecordWrittenWithoutPausePushesNoOtherOut() throws {
        // Given
        var recent = recent(changes: 3)
        recent.append(try Support.put(1, "a/1"))
        recent.append(try Support.put(2, "a/2"))
        // When
        for revision in 3...10_000 as ClosedRange<Int64> {
            recent.append(try Support.put(revision, "a/hot"))
            recent.trim()
        }
        // Then
        #expect(recent.floor == .zero)
        #expect(revisions(recent) == [1, 2, 10_000])
    }

    @Test func bytesAreBoundedAndReturned() throws {
        // Given
        var recent = recent(bytes: 10_000)
        let value = "\"" + String(repeating: "x", count: 3_000) + "\""
        // When
        for revision in 1...8 as ClosedRange<Int64> {
            recent.append(try Support.put(revision, "a/\(revision)", value))
            recent.trim()
            #expect(recent.bytes <= 10_000)
        }
        // Then
        #expect(revisions(recent, after: recent.floor.number) == [7, 8] || revisions(recent, after: recent.floor.number) == [6, 7, 8])
        // When all remaining changes are replaced by small ones
        for revision in 9...11 as ClosedRange<Int64> { recent.append(try Support.put(revision, "a/\(revision - 3)")) }
        recent.trim()
        // Then
        #expect(recent.bytes < 2_000)
    }

    @Test func theEncodingIsMadeOnceAndIsThatOfTheWire() throws {
        // Given
        var recent = recent()
        let change = try Support.put(1, "a/1", #"{"n":[1,2]}"#)
        recent.append(change)
        let place = recent.places(after: .zero).lowerBound
        // Then
        #expect(recent.json(at: place, values: true) == change.json)
        #expect(recent.json(at: place, values: false) == change.withoutValue.json)
        #expect(recent.json(at: place, values: true) == change.json)
    }

    @Test func sweepsOfOneScopeLeaveTheirPlaceToo() throws {
        // Given
        var recent = recent()
        recent.append(Support.sweep(1, .collection("a", prefix: "")))
        recent.append(try Support.put(2, "a/1"))
        recent.append(Support.sweep(3, .collection("a", prefix: "")))
        // Then
        #expect(revisions(recent) == [2, 3])
    }
}
