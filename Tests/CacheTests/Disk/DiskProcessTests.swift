import FreshetCache
import FreshetTestSupport
import Subprocess
import Synchronization
import Testing

/// Processes that write into one directory, and are killed with `SIGKILL` in the middle of it.
@Suite("Processes on one cache", .serialized)
struct DiskProcessTests {
    /// What a process has printed of its keys.
    struct Report: Sendable {
        /// The last write that was asked for.
        var tried: [String: Int] = [:]
        /// The last that was stored, and whether it was a removal.
        var stored: [String: (version: Int, isGone: Bool)] = [:]

        mutating func add(_ line: Substring) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let version = Int(words[2]) else { return }
            if words[0] == "try" { tried[words[1]] = version } else { stored[words[1]] = (version, words[0] == "gone") }
        }
    }

    let folder = TemporaryDirectory()

    @Test(
        "after a kill at any moment, each value read was written, and each stored value is there", .timeLimit(.minutes(5)),
        arguments: 0..<SoakScale.kills)
    func killed(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var reports: [Report] = [Report(), Report()]
        for life in 0..<3 {
            // Given two processes that write into one directory
            let deaths = (0..<2).map { _ in Int.random(in: 1..<120, using: &random) }
            let (before, beforeToo) = (reports[0], reports[1])
            // When each is killed after it has printed so many lines, at an arbitrary moment
            async let first = live("p0", seed * 100 + life, from: 1 + life * 100_000, until: deaths[0], before)
            async let second = live("p1", seed * 100 + life + 50, from: 1 + life * 100_000, until: deaths[1], beforeToo)
            reports = try await [first, second]
            // Then
            try await verify(reports)
        }
    }

    /// Has a process write until it has said so many lines, and kills it.
    private func live(_ prefix: String, _ seed: Int, from first: Int, until lines: Int, _ before: Report) async throws -> Report {
        let ending = try await run(
            Product.cache, arguments: [folder.path, prefix, "\(seed)", "\(first)"], input: .none, output: .sequence, error: .discarded
        ) { execution in
            var report = before
            var count = 0
            for try await line in execution.standardOutput.strings() {
                report.add(line[...])
                count += 1
                if count == lines { try execution.send(signal: .kill) }
            }
            return report
        }
        #expect(ending.terminationStatus == .signaled(9))
        return ending.closureResult
    }

    private func verify(_ reports: [Report]) async throws {
        let cache = try await DiskCache.open(folder.path)
        #expect(try await cache.statistics().restarts == 0)
        for report in reports {
            for (key, tried) in report.tried {
                let stored = report.stored[key]
                guard let value = try await cache.value(forKey: key) else {
                    // A removal may have been under way.
                    #expect(stored == nil || stored?.isGone == true || tried > stored?.version ?? 0, "\(key) is lost")
                    continue
                }
                let version = try #require(KnownValue.version(of: value.bytes, key: key), "\(key) has a value that nobody wrote")
                #expect(version <= tried && version >= stored?.version ?? 0, "\(key) has \(version)")
                if let stored, stored.isGone { #expect(version > stored.version, "\(key) came back") }
            }
        }
        // Each entry that is listed can be read, and each file of a value has its entry, but for those that were being written.
        let entries = try await cache.entries()
        for entry in entries { #expect(try await cache.contains(entry.keyBytes)) }
        await cache.close()
    }

    @Test("two processes write the same keys while a third reads: every value is one that was written", .timeLimit(.minutes(5)))
    func together() async throws {
        // Given
        let cache = try await DiskCache.open(folder.path)
        final class Progress: Sendable {
            let seen = Atomic(0)
            let isOver = Atomic(false)
        }
        let progress = Progress()
        let reading = Task {
            defer { progress.isOver.store(true, ordering: .relaxed) }
            while !Task.isCancelled {
                for number in 0..<20 {
                    guard let value = try await cache.value(forKey: "same/\(number)") else { continue }
                    // Then
                    #expect(KnownValue.version(of: value.bytes, key: "same/\(number)") != nil)
                    progress.seen.add(1, ordering: .relaxed)
                }
            }
        }
        // When they write for as long as it takes to be met by many reads
        for round in 1... {
            guard progress.seen.load(ordering: .relaxed) <= 100, !progress.isOver.load(ordering: .relaxed) else { break }
            async let first = live("same", 1, from: round * 1_000_000, until: 400, Report())
            async let second = live("same", 2, from: round * 1_000_000 + 500_000, until: 400, Report())
            _ = try await [first, second]
        }
        reading.cancel()
        try await reading.value
        let statistics = try await cache.statistics()
        #expect(statistics.damaged == 0 && statistics.restarts == 0)
    }
}
