import Testing

@testable import FreshetClient

@Suite("Lists with wrong responses") struct WrongListsTests {
    @Test("are read again a few times, and then wait until the client is live again") func repeats() {
        // Given
        var lists = WrongLists()
        // When the lists of two collections are wrong again and again, one of them once less
        for _ in 0..<WrongLists.mostRepeats {
            #expect(lists.note("notes") == true)
            #expect(lists.note("images") == true)
        }
        for _ in 1...2 { #expect(lists.note("notes") == false) }
        // Then the one waits
        #expect(lists.takeAbandoned() == ["notes"])
        // And both may be repeated again afterwards
        #expect(lists.note("notes") == true)
        #expect(lists.takeAbandoned() == [])
    }

    @Test("are counted from the last list that was right") func success() {
        // Given a list that may not be repeated once more
        var lists = WrongLists()
        for _ in 0..<WrongLists.mostRepeats { #expect(lists.note("notes") == true) }
        // When it was right in between
        lists.forget("notes")
        // Then it is repeated
        #expect(lists.note("notes") == true)
        #expect(lists.takeAbandoned() == [])
    }
}
