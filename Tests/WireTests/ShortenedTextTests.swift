import FreshetWire
import Testing

@Suite("Shortened texts") struct ShortenedTextTests {
    @Test(arguments: ["", "short", "é😀", "\u{1}\"\\"])
    func aTextThatFitsStaysAsItIs(_ text: String) {
        #expect(text.shortened(toJSONBytes: 100) == text)
    }

    @Test func aTextOfExactlyTheLimitStaysAsItIs() {
        let text = String(repeating: "a", count: 100)
        #expect(text.shortened(toJSONBytes: 100) == text)
        #expect((text + "a").shortened(toJSONBytes: 100) == String(repeating: "a", count: 97) + "…")
    }

    @Test func aTextIsCutBetweenCharactersSoThatItsJSONFits() {
        for text in ["é", "😀", "\u{1}", "\"", "ab😀\n"] {
            let long = String(repeating: text, count: 400)
            for limit in 90...120 {
                // When
                let short = long.shortened(toJSONBytes: limit)
                // Then
                var writer = JSONWriter()
                writer.string(short)
                #expect(writer.bytes.count - 2 <= limit && short.hasSuffix("…"))
                #expect(long.utf8.starts(with: short.dropLast().utf8) && short.utf8.count > 15)
            }
        }
    }

    @Test func anEpochOfManyCombiningMarksIsRepeatedInPart() {
        // Given one character of 100,000 scalars
        let epoch = "a" + String(repeating: "\u{301}", count: 100_000)
        let json = #"{"client":"d","epoch":"\#(epoch)","writes":[]}"#
        // When
        let error = #expect(throws: WireError.self) { try WriteBatch(json: Array(json.utf8)) }
        // Then
        let text = error?.description ?? ""
        #expect(text.contains("…' is none") && text.utf8.count < 500, "\(text.utf8.count) bytes")
    }
}
