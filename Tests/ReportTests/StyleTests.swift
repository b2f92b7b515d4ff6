import FreshetSimulator
import Testing

/// The style sheet, read by a real browser, which drops without a word what it does not understand.
@Suite("A report's style", .serialized, .browserThreads, .timeLimit(.minutes(15)))
struct StyleTests {
    private struct Findings: Decodable {
        let rules: Int
        let declarations: Int
        let refused: [String]
    }

    /// Takes the text apart itself: the browser's own rules no longer have what it dropped.
    private static let reading = #"""
        const text = document.querySelector("style").textContent.replace(/\/\*[^]*?\*\//g, "");
        const refused = [];
        let rules = 0;
        let declarations = 0;
        for (const [, selector, block] of text.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
          rules += 1;
          for (const part of selector.trim().split(/,(?![^(\[]*[)\]])/)) {
            if (!CSS.supports(`selector(${part.trim()})`)) refused.push(part.trim());
          }
          for (const declaration of block.split(";").filter(line => line.trim() !== "")) {
            declarations += 1;
            const place = declaration.indexOf(":");
            const [name, value] = [declaration.slice(0, place).trim(), declaration.slice(place + 1).replace("!important", "").trim()];
            if (!CSS.supports(name, value)) refused.push(selector.trim() + ": " + declaration.trim());
          }
        }
        return { rules, declarations, refused };
        """#

    @Test("has no selector and no declaration that a browser would drop")
    func understood() async throws {
        // When
        let findings: Findings = try await Browser().findings(in: SampleTimeline.rich.page(), Self.reading)
        // Then
        #expect(findings.refused == [])
        #expect(findings.rules > 100)
        #expect(findings.declarations > 300)
    }
}
