import Foundation
import FreshetSimulator
import Testing

@Suite("A report as text")
struct PageTextTests {
    /// Labels that would end a script, a string or a comment where they were written carelessly.
    static let hostile = [
        "</script><script>window.intruder = 1</script>", "<!-- <script>", "\"quotes\" and 'quotes' and \\ back", "\u{2028}\u{2029}",
        "\u{0}\u{1}\u{1F}\u{7F}\r\n\t", "&lt;b&gt; <b>bold</b>", "]]>", "🦀 é ß", "<img src=x onerror='window.intruder = 2'>",
    ]

    @Test("holds each hostile label as data, and ends no script with it", arguments: hostile)
    func embedding(label: String) throws {
        // Given
        var timeline = Timeline(title: label, command: label, scenario: label, end: 10, lanes: [.init(name: label, detail: label)])
        timeline.marks = [.init(lane: 0, time: 1, label: label)]
        // When
        let page = String(decoding: timeline.page(), as: UTF8.self)
        // Then
        let opening = try #require(page.firstRange(of: "<script type=\"application/json\" id=\"timeline\">"))
        let closing = try #require(page[opening.upperBound...].firstRange(of: "</script>"))
        let embedded = page[opening.upperBound..<closing.lowerBound]
        #expect(!embedded.contains("<"))
        let data = try #require(try JSONSerialization.jsonObject(with: Data(embedded.utf8)) as? [String: Any])
        #expect(data["title"] as? String == label)
        #expect((data["marks"] as? [[String: Any]])?.first?["label"] as? String == label)
        #expect(page.ranges(of: "</script>").count == 2)
        #expect(page.ranges(of: "<script").count == 2)
    }

    @Test("names no address: nothing comes from elsewhere")
    func selfContained() {
        // When
        let page = String(decoding: SampleTimeline.rich.page(), as: UTF8.self)
        // Then: the one address is SVG's name, which nobody fetches.
        let name = "http://www.w3.org/2000/svg"
        #expect(page.ranges(of: "://").count == page.ranges(of: name).count)
        #expect(!page.contains("@import"))
        #expect(!page.contains("url(h"))
    }

    @Test("fills each place of its frame once, and reads no place in a label")
    func frame() {
        // Given
        let label = "{{script}} {{title}} {{style}} {{timeline}} {{other}}"
        // When
        let page = String(decoding: Timeline(title: label, scenario: label, lanes: []).page(), as: UTF8.self)
        // Then: the title, and the timeline's title and scenario.
        #expect(page.ranges(of: label).count == 3)
        #expect(page.ranges(of: "{{").count == 3 * 5)
        #expect(page.hasPrefix("<!DOCTYPE html>\n"))
        #expect(page.hasSuffix("</html>\n"))
    }

    @Test("stays small with 20,000 messages")
    func size() {
        // When
        let size = CrowdedTimeline.timeline.page().count
        // Then: 130 bytes a message, and what goes with them.
        #expect(size < 5_000_000)
        #expect(size > CrowdedTimeline.messages * 80)
    }

    @Test("says how to get a browser where there is none")
    func noBrowser() throws {
        let failure = #expect(throws: (any Error).self) { try Browser(searching: "/nowhere:/nor/here") }
        #expect("\(try #require(failure))".contains("apt-get install chromium"))
    }
}
