import ArgumentParser
import Foundation
import Testing

@testable import freshet

struct PageTests {
    @Test func theGuideListsTheExitStatuses() throws {
        let page = try Project.text(of: "docs/cli.md")
        let rows = ExitStatus.allCases.map { "| \($0.rawValue) | \($0.meaning) |" }.joined(separator: "\n")
        #expect(page.contains(rows))
    }

    @Test func theNewestEntryOfTheChangelogIsThisVersion() throws {
        let changelog = try Project.text(of: "CHANGELOG.md")
        let newest = try #require(changelog.firstMatch(of: /\n## \[?([0-9]+\.[0-9]+\.[0-9]+)/))
        #expect(String(newest.output.1) == Version.current)
        #expect(Freshet.configuration.version == Version.current)
    }

    @Test(arguments: [
        "README.md", "docs/protocol.md", "docs/architecture.md", "docs/cli.md", "docs/operating/several-servers.md",
        "docs/operating/failover.md", "docs/testkit.md", "docs/simulator.md",
        "docs/cache.md", "docs/http-cache.md", "docs/limits.md", "docs/performance.md", "docs/performance/fan-out.md",
        "docs/performance/requests.md", "docs/performance/device-to-device.md", "docs/testing.md", "docs/decisions/README.md",
    ])
    func linksLeadSomewhere(page: String) throws {
        let folder = Project.folder.appendingPathComponent(page).deletingLastPathComponent()
        for link in try Project.text(of: page).matches(of: /\]\((?<target>[^)#:]+)(#[^)]*)?\)/) {
            let target = folder.appendingPathComponent(String(link.output.target)).path
            #expect(FileManager.default.fileExists(atPath: target), "\(page) links to \(link.output.target)")
        }
    }

    @Test("links of the decisions and of the modules' pages lead somewhere, and the files that they name exist")
    func filesThatPagesNameExist() throws {
        // Given all source files and the pages that name them
        let sources = try Project.files(in: ["Sources", "Tests", "Benchmarks", "Examples", "Fuzzing"]).filter { $0.hasSuffix(".swift") }
        let pages = try Project.files(in: ["docs/decisions", "Sources"]).filter { $0.hasSuffix(".md") && !$0.contains(".docc/") }
        #expect(sources.count > 500 && pages.count > 50)
        for page in pages + ["docs/architecture.md", "docs/testing.md", "CONTRIBUTING.md"] {
            try linksLeadSomewhere(page: page)
            // When a page names a file with its folder
            for name in try Project.text(of: page).matches(of: /`(?<path>([A-Za-z]+\/)+[A-Za-z+]+\.swift)`/).map(\.output.path) {
                // Then there is such a file
                #expect(sources.contains { $0 == name || $0.hasSuffix("/\(name)") }, "\(page) names \(name)")
            }
        }
    }
}
