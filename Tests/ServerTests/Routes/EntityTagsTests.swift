import Testing

@testable import FreshetServer

@Suite("Entity tags") struct EntityTagsTests {
    @Test(arguments: ["*", " * ", "\t*"])
    func anyTag(text: String) { #expect(EntityTags(text) == .any) }

    @Test func listsWithWeakTagsSpacesAndEmptyElements() {
        #expect(
            EntityTags(#" "a" ,, W/"b","c,d" ,"#)
                == .tags([.init(isWeak: false, text: "\"a\""), .init(isWeak: true, text: "\"b\""), .init(isWeak: false, text: "\"c,d\"")]))
    }

    @Test(arguments: ["", ",", "a", "\"a", "w/\"a\"", "\"a\" \"b\"", "* , \"a\"", "**", "\"a b\"", "W/", "W/a"])
    func everythingElseIsRefused(text: String) { #expect(EntityTags(text) == nil) }

    @Test func strongAndWeakComparison() throws {
        // Given
        let tags = try #require(EntityTags(#"W/"a", "b""#))
        // Then
        #expect(!tags.matchesStrongly("\"a\"") && tags.matchesStrongly("\"b\""))
        #expect(tags.matchesWeakly("\"a\"") && tags.matchesWeakly("\"b\"") && !tags.matchesWeakly("\"c\""))
    }
}
