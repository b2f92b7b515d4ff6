import FoundationEssentials
import Testing

@testable import FreshetSimulator
@testable import freshet

struct SearchDirectoryTests {
    private let path = "\(FileManager.default.temporaryDirectory.path)/freshet-search-\(UInt64.random(in: 0 ... .max))"

    @Test func aCorpusIsSavedAndLoaded() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Given a directory with two entries
        let first = Scenario(seed: 1, devices: [.init("A")], incidents: [.init(after: 5, .clear(device: 0))])
        let second = Scenario(seed: 2, devices: [.init("B")], incidents: [.init(.backUp), .init(after: 7, .restore)])
        try SearchDirectory(path).save([1: first, 2: second])
        // When another search opens it
        let directory = try SearchDirectory(path)
        let loaded = try directory.load()
        // Then it loads both
        #expect(Set(loaded) == [first, second])
        // When it saves one of them, under another number
        try directory.save([7: second])
        // Then the other one has been removed
        #expect(try SearchDirectory(path).load() == [second])
    }

    @Test("An entry that another search on the directory has removed ends neither of them") func removedElsewhere() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Given two searches that have loaded the same entry
        let entry = Scenario(seed: 1, devices: [.init("A")], incidents: [.init(after: 5, .clear(device: 0))])
        try SearchDirectory(path).save([1: entry])
        let directories = [try SearchDirectory(path), try SearchDirectory(path)]
        for directory in directories { _ = try directory.load() }
        // When both remove it
        for directory in directories { try directory.save([:]) }
        // Then
        #expect(try SearchDirectory(path).load().isEmpty)
    }

    @Test("A file in the directory's place is refused with the system's reason") func fileInPlace() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Given
        try Data().write(to: URL(filePath: path))
        // When
        let failure = #expect(throws: CommandFailure.self) { _ = try SearchDirectory(path) }
        // Then
        #expect(failure == CommandFailure(.cannotCreate, "cannot make \(path)/corpus: Not a directory"))
    }

    @Test func aFileThatIsNoScenarioIsNamed() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = try SearchDirectory(path)
        try Data("partiton A\n".utf8).write(to: URL(filePath: "\(path)/corpus/x.scenario"))
        let failure = #expect(throws: CommandFailure.self) { try directory.load() }
        #expect(failure?.status == .data)
        #expect(failure?.message.contains("x.scenario: line 1") == true)
    }

    @Test(
        "A file that is empty, or no UTF-8, is refused and stays",
        arguments: [[], [0x0A], Array("A evicts c/\u{E9}".utf8.dropLast())] as [[UInt8]])
    func damagedFile(bytes: [UInt8]) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = try SearchDirectory(path)
        let file = "\(path)/corpus/x.scenario"
        try Data(bytes).write(to: URL(filePath: file))
        // When
        let failure = #expect(throws: CommandFailure.self) { try directory.load() }
        // Then
        #expect(failure?.status == .data && failure?.message.hasPrefix(file) == true)
        #expect(FileManager.default.contents(atPath: file) == Data(bytes))
    }

    @Test("A found violation is a scenario, whatever its description contains") func descriptionOfSeveralLines() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Given a description with a line break
        let scenario = Scenario(devices: [.init("A")], incidents: [.init(.clear(device: 0))])
        let violation = Violation(rule: .expectation, step: 1, time: 1, device: nil, text: "A shows 1\nno statement")
        let finding = GuidedSearch.Finding(
            kind: ViolationKind(violation), violation: violation, scenario: scenario, origin: .new, progress: GuidedSearch.Progress())
        // When
        let file = try SearchDirectory(path).add(finding)
        // Then
        #expect(try Scenario(file: file) == scenario)
    }

    @Test("A violation that cannot be stored is printed", .timeLimit(.minutes(5))) func fullDisk() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Given a folder in which nobody can make a file
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: "\(path)/found", withDestinationPath: "/proc")
        // When a search finds a violation
        let ending = try await Program()(
            "search", "--seed", "5", "--devices", "3", "--steps", "600", "--steps-total", "100000", "--bug", "forgetLedger", "--corpus",
            path)
        // Then
        #expect(ending.status == ExitStatus.cannotCreate.rawValue && ending.error.contains("cannot write \(path)/found"), "\(ending)")
        #expect(ending.output.contains("incidents break it:\n") && ending.output.contains("\ndevice "), "\(ending)")
    }
}
