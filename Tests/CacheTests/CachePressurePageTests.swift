import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

/// The page's lines on memory pressure, with the test's pressure.
private func pageExample(_ pressure: MemoryPressure, show: (String, Int) -> Void) async {
    // page begins
    let cache = Cache<String, [UInt8]>(costLimit: 64 << 20)
    cache.shrinks(under: pressure)  // or `.shared`, one for the whole process

    let events = pressure.events
    pressure.report(.warning)  // as the kernel would
    for await case .shrunk(let percent, _, let cause) in events {
        show("held to \(percent) % of its limits: \(cause)", cache.statistics.pressureEvictions)
        break
    }
    // page ends
}

@Suite struct CachePressurePageTests {
    @Test func theExampleIsTheOneThatIsCompiled() throws {
        // Given the page's Swift and the compiled lines
        let root = #filePath.components(separatedBy: "/Tests/")[0]
        let page = try String(contentsOfFile: root + "/docs/cache.md", encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let shown = try #require(excerpt(of: page, from: "### When memory is short", to: "| | |"))
        let code = try #require(excerpt(of: shown, from: "```swift\n", to: "```"))
        let compiled = try #require(excerpt(of: source, from: "    // page begins\n", to: "    // page ends"))
        // Then they are the same
        #expect(code == unindented(compiled))
    }

    @Test func theExampleRuns() async {
        // Given a pressure that watches nothing of the machine
        var configuration = MemoryPressure.Configuration()
        configuration.root = TemporaryDirectory().path
        configuration.servicePath = nil
        var shown: [String] = []
        // When
        await pageExample(MemoryPressure(configuration)) { shown.append("\($0), \($1)") }
        // Then
        #expect(shown == ["held to 50 % of its limits: reported, 0"])
    }
}
