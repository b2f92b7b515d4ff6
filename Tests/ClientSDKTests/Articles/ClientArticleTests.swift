import FoundationEssentials
import FreshetTestSupport
import Testing

@Suite("Articles about the SDK")
struct ClientArticleTests {
    private static let folder = #filePath.components(separatedBy: "/Tests/")[0]

    @Test("each shows the lines that are compiled and run, and nothing else")
    func compiled() throws {
        // Given
        let catalogue = "Sources/ClientSDK/FreshetClient.docc"
        #expect(try Article.all(in: catalogue).count >= 5)
        // Then
        #expect(try Article.unproven(in: catalogue, suites: "ClientSDKTests") == [])
    }

    @Test("the page about troubles names each error, and each member of the status that reports one")
    func complete() throws {
        // Given
        let page = try #require(try Article.all(in: "Sources/ClientSDK/FreshetClient.docc").first { $0.name == "Troubleshooting" }).text
        let source = try String(contentsOfFile: "\(Self.folder)/Sources/ClientSDK/Client/ClientError.swift", encoding: .utf8)
        let declarations = try #require(excerpt(of: source, from: "public enum ClientError", to: "\n}\n"))
        let errors = declarations.split(separator: "\n").compactMap { line -> Substring? in
            let text = line.drop { $0 == " " }
            return text.hasPrefix("case ") ? text.dropFirst(5).prefix { $0.isLetter } : nil
        }
        #expect(errors.count > 20)
        // Then
        for error in errors { #expect(page.contains("| ``ClientError/\(error)"), "\(error)") }
        for connection in ["stopped", "catchingUp", "live", "offline", "unauthorized"] {
            #expect(page.contains("| ``SyncClient/Status/Connection/\(connection)"), "\(connection)")
        }
    }
}
