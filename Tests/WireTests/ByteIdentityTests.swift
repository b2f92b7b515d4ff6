import Testing

@testable import FreshetWire

/// `é` as one code point and as `e` with an accent: equal to `String`, two different names to the protocol and to SQLite.
@Suite struct ByteIdentityTests {
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"

    @Test func keysAreEqualWhenTheirBytesAre() throws {
        // Given
        #expect(composed == decomposed)
        // When
        let left = try RecordKey(collection: "c", id: composed)
        let right = try RecordKey(collection: "c", id: decomposed)
        // Then
        #expect(left != right)
        #expect(Set([left, right]).count == 2)
        #expect(Set([left, try RecordKey("c/\(composed)")]).count == 1)
        #expect((left < right) != (right < left))
    }

    @Test func filtersAndScopesToo() throws {
        // Given
        let left = try ChangeFilter(collections: ["c"], prefix: composed)
        let right = try ChangeFilter(collections: ["c"], prefix: decomposed)
        // Then
        #expect(left != right)
        #expect(Set([left, right]).count == 2)
        #expect(Set([InvalidationScope.collection("c", prefix: composed), .collection("c", prefix: decomposed)]).count == 2)
        #expect(Set([InvalidationScope.collection("c", prefix: composed), .collection("c", prefix: composed), .everything]).count == 2)
    }
}
