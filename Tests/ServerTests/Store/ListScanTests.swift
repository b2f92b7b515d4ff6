import FreshetServer
import FreshetWire
import Testing

@Suite("Lists over tombstones") struct ListScanTests {
    /// The ids of each page, and the id from which to continue, from the first page to the last.
    private func pages(
        _ fixture: StoreFixture, prefix: String = "", limit: Int = 100, bytes: Int = 100, scanLimit: Int
    ) throws -> [String] {
        var pages: [String] = []
        var after: String?
        repeat {
            let query = ListQuery(
                collection: "c", after: after, prefix: prefix, limit: limit, byteLimit: bytes, scanLimit: scanLimit)
            let slice = try fixture.store.records(query, in: fixture.namespace).value
            pages.append("\(slice.records.map(\.key.id).joined(separator: ",")) > \(slice.next ?? "-")")
            after = slice.next
        } while after != nil && pages.count < 20
        return pages
    }

    @Test(arguments: StoreKind.allCases)
    func aPageEndsAfterAsManyRowsAsAreLookedAt(_ kind: StoreKind) throws {
        // Given a collection most of whose records were deleted
        let fixture = try StoreFixture(kind)
        for id in ["a", "b", "c", "d", "e", "f", "g", "h"] { try fixture.put("c/\(id)", "1") }
        try fixture.put("b/z", "1")
        try fixture.put("d/a", "1")
        for id in ["b", "c", "d", "e", "f", "h"] { try fixture.write("c/\(id)", .delete) }
        // When it is listed in stretches, Then each page has the id from which to continue, even if the page is empty
        #expect(try pages(fixture, scanLimit: 3) == ["a > c", " > f", "g > -"])
        #expect(try pages(fixture, scanLimit: 2) == ["a > b", " > d", " > f", "g > h", " > -"])
        #expect(try pages(fixture, scanLimit: 0) == ["a > a", " > b", " > c", " > d", " > e", " > f", "g > g", " > h", " > -"])
        #expect(try pages(fixture, scanLimit: 9) == ["a,g > -"])
        // And the other bounds hold as well
        #expect(try pages(fixture, limit: 1, scanLimit: 9) == ["a > a", "g > -"])
        #expect(try pages(fixture, bytes: 1, scanLimit: 9) == ["a > a", "g > -"])
        #expect(try pages(fixture, limit: 1, scanLimit: 4) == ["a > d", "g > h", " > -"])
        #expect(try pages(fixture, prefix: "e", scanLimit: 1) == [" > e", " > -"])
        #expect(try pages(fixture, prefix: "none", scanLimit: 1) == [" > -"])
    }
}
