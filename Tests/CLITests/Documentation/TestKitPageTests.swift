import Foundation
import Testing

/// Checks that the Swift of the pages about the test kit is that of the example, which is built and run.
struct TestKitPageTests {
    @Test(arguments: ["docs/testkit.md", "README.md"]) func theSwiftIsThatOfTheExample(page: String) throws {
        // Given the example's lines, and the page's Swift except for other topics
        let example = Self.lines(of: try Project.text(of: "Examples/SwiftTesting/Tests/TillTests/TillTests.swift"))
        let blocks = try Project.text(of: page).components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }.filter { $0.contains("kit.") }
        #expect(!blocks.isEmpty)
        for block in blocks {
            // Then they are lines of it, in their order and without a gap
            let lines = Self.lines(of: block)
            #expect(example.indices.contains { example[$0...].starts(with: lines) }, "\(page): \(block)")
        }
    }

    /// Without indentation, which the page leaves out, and without empty lines.
    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { String($0.trimmingPrefix { $0 == " " }) }.filter { !$0.isEmpty }
    }
}
