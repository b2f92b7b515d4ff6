import FreshetWire
import Testing

@Suite("JSON writer")
struct JSONWriterTests {
    @Test("puts commas where they belong")
    func commas() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a", 1)
        writer.member("b")
        writer.beginArray()
        writer.string("x")
        writer.beginObject()
        writer.endObject()
        writer.null()
        writer.boolean(true)
        writer.endArray()
        writer.member("c", false)
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"a":1,"b":["x",{},null,true],"c":false}"#)
    }

    @Test("spells whole numbers", arguments: [0, 1, -1, 10, 12345, .max, .min, -100] as [Int64])
    func integers(value: Int64) {
        var writer = JSONWriter()
        writer.integer(value)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == String(value))
    }

    @Test("a string that it writes is read back", arguments: ["", "a\"b\\c", "\u{0}\u{1F}\n\r\t\u{8}", "é漢😀", "</script>"])
    func strings(text: String) throws {
        var writer = JSONWriter()
        writer.string(text)
        var reader = JSONReader(writer.bytes)
        #expect(try reader.string() == text)
        try reader.end()
    }
}
