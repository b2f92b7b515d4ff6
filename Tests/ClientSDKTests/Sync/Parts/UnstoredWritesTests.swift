import FreshetWire
import Testing

@testable import FreshetClient

@Suite("Writes on their way to the disk") struct UnstoredWritesTests {
    private func request(_ callerID: Int64, _ key: String) -> SetRequest {
        SetRequest(callerID: CallerID(callerID), key: Scene.key(key), operation: .delete, base: nil)
    }

    private func entry(_ key: String, _ revision: Int64) -> Entry {
        Entry(
            key: Scene.key(key), epoch: Scene.position(1).epoch, revision: Scene.revision(revision), asOf: Scene.revision(revision),
            pass: 1,
            content: Scene.json("1"), verifiedAt: Timestamp(milliseconds: 0), origin: .feed)
    }

    @Test("a key is claimed until the last of its writes is on disk")
    func contains() {
        // Given
        var unstored = UnstoredWrites()
        for callerID in 1...2 as ClosedRange<Int64> { unstored.add(request(callerID, "c/1"), base: nil) }
        // When all are taken, then the claim stays
        let taken = unstored.takeAll()
        #expect(taken.map(\.callerID) == [CallerID(1), CallerID(2)] && unstored.isEmpty && unstored.contains(Scene.key("c/1")))
        unstored.release(taken[0])
        #expect(unstored.contains(Scene.key("c/1")))
        unstored.release(taken[1])
        #expect(unstored.keyCount == 0)
    }

    @Test("the record under a waiting write follows the disk")
    func baseFollows() {
        // Given
        var unstored = UnstoredWrites()
        unstored.add(request(1, "c/1"), base: entry("c/1", 4))
        // When
        unstored.apply([.put(entry("c/1", 7), onlyIfCached: false), .put(entry("c/2", 9), onlyIfCached: false)])
        // Then
        #expect(unstored.base(of: Scene.key("c/1"))?.revision == Scene.revision(7) && unstored.base(of: Scene.key("c/2")) == nil)
    }
}
