import FreshetPlatform
import Testing

@Suite struct ByteNameTests {
    private let composed = ByteIdentity.Name(text: "caf\u{E9}")
    private let decomposed = ByteIdentity.Name(text: "cafe\u{301}")

    @Test func namesAreEqualIfTheirBytesAre() {
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed && composed == ByteIdentity.Name(text: "caf\u{E9}"))
        #expect(Set([composed, decomposed, ByteIdentity.Name(text: "cafe\u{301}")]).count == 2)
    }

    @Test func namesAreOrderedByTheirBytes() {
        #expect(decomposed < composed && !(composed < decomposed) && !(composed < composed))
        #expect(ByteIdentity.Name(text: "") < ByteIdentity.Name(text: "\0"))
        // In the order of UTF-8
        let names = ["\u{1D11E}", "\u{E9}", "Z"].map { ByteIdentity.Name(text: $0) }
        #expect(names.sorted().map(\.text) == ["Z", "\u{E9}", "\u{1D11E}"])
    }
}
