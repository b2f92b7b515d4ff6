import Foundation
import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// What the files of a device hold after records were removed because the device may not have them any more.
@Suite("Erased values in the files of a device") struct DiskTierErasureTests {
    private let directory = TemporaryDirectory()

    private func open() throws -> DiskTier {
        try DiskTier(directory: directory.path, namespace: Sample.namespace, client: Sample.client)
    }

    /// Those of the texts that are in one of the files. Each begins with `value-` and ends with the only dot.
    private func found(_ texts: some Sequence<String>) throws -> [String] {
        let start = Array("value-".utf8)
        var present: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: directory.path + "/" + name)))
            bytes.withUnsafeBufferPointer { bytes in
                for place in bytes.indices where bytes[place] == start[0] && bytes[place...].starts(with: start) {
                    let text = bytes[place...].prefix(64).prefix { $0 != UInt8(ascii: ".") }
                    present.insert(String(decoding: text, as: UTF8.self) + ".")
                }
            }
        }
        return texts.filter(present.contains)
    }

    /// The texts of values, by their state.
    private struct History {
        var gone: [String] = []
        var entries: [Int: String] = [:]
        var waiting: [Int: String] = [:]
        var rejected: [Int: String] = [:]
        private var random: SeededRandom
        private var revision: Int64 = 0
        private var last = 0

        init(seed: UInt64) { random = SeededRandom(seed) }

        private mutating func text(_ place: Int) -> String {
            revision += 1
            return "value-\(place)-\(revision)-\(random.below(1 << 40))."
        }

        private mutating func content(_ text: String) -> Content {
            // Some take several pages of the file.
            let size = [0, 0, 0, 100, 900, 3_000, 20_000][Int(random.below(7))]
            return Sample.json("\"\(text)\(String(repeating: "x", count: size))\"")
        }

        private mutating func put(_ place: Int) -> EntryOperation {
            if let old = entries[place] { gone.append(old) }
            let text = text(place)
            entries[place] = text
            return .put(Sample.entry("notes/\(place)", revision, content(text)), onlyIfCached: false)
        }

        /// A transaction as of a write, a confirmation, a rejection or a page of the feed.
        mutating func step() -> DiskTransaction {
            var transaction = DiskTransaction(id: TransactionID(1))
            switch random.below(8) {
            case 0...3:
                // Some writes while the server is out of reach.
                for _ in 0...random.below(9) {
                    last += 1
                    let text = text(last)
                    waiting[last] = text
                    transaction.outbox.append(.put(Sample.row(Int64(last), "notes/\(last % 40)", .put(content(text)))))
                }
            case 4:
                // The verdicts on most of them.
                for place in waiting.keys.sorted().prefix(waiting.count * 2 / 3) {
                    gone.append(waiting.removeValue(forKey: place) ?? "")
                    transaction.entries.append(put(place % 40))
                    transaction.outbox.append(.remove(LocalWriteID(Int64(place))))
                }
            case 5:
                guard let place = waiting.keys.max(), let own = waiting.removeValue(forKey: place) else { break }
                // A rejected write stays, and the record that it met leaves it.
                let text = text(place)
                gone.append(text)
                rejected[place] = own
                let key = "notes/\(place % 40)"
                let current = Record(
                    key: Sample.key(key), revision: Sample.revision(revision), content: content(text), modified: Timestamp(milliseconds: 5))
                let problem = Problem(.preconditionFailed, "it has changed", current: current)
                let row = Sample.row(Int64(place), key, .put(Sample.json("\"\(own)\"")))
                transaction.outbox = [.remove(LocalWriteID(Int64(place)))]
                transaction.rejections = [.put(RejectedWrite(row, problem, at: Timestamp(milliseconds: 1)))]
            default: transaction.entries = [put(Int(random.below(40)))]
            }
            return transaction
        }
    }

    /// A device's file after some time, and the history that has led to it.
    private func used(_ seed: UInt64) throws -> (tier: DiskTier, history: History) {
        var history = History(seed: seed)
        let tier = try open()
        // As the file of an earlier version was written.
        try tier.connection.pragma("secure_delete=OFF")
        for step in 1...100 {
            _ = try tier.apply(history.step())
            // As after 1,000 pages.
            if step % 20 == 0 { try tier.connection.checkpoint() }
        }
        return (tier, history)
    }

    @Test(
        "a withdrawn right leaves no value of a record, present or former, and all writes that wait",
        arguments: 1...4 as ClosedRange<UInt64>)
    func withdrawn(seed: UInt64) throws {
        // Given
        let (tier, history) = try used(seed)
        #expect(try found(history.gone + history.entries.values).count > 10)
        // When
        _ = try tier.apply(DiskTransaction(id: TransactionID(1), removesRecords: true))
        // Then
        #expect(try found(history.gone + history.entries.values) == [])
        let kept = history.waiting.values.sorted() + history.rejected.values.sorted()
        #expect(try found(kept) == kept && !kept.isEmpty)
        #expect(try tier.outbox().count == history.waiting.count && tier.rejections().count == history.rejected.count)
    }

    @Test("a clear leaves no value at all", arguments: [5, 6] as [UInt64])
    func cleared(seed: UInt64) throws {
        // Given
        let (tier, history) = try used(seed)
        // When
        _ = try tier.apply(DiskTransaction(id: TransactionID(1), clear: ClientIdentifier("next")))
        // Then
        #expect(try found(history.gone + history.entries.values + history.waiting.values + history.rejected.values) == [])
    }

    @Test("a right that is withdrawn for one record leaves none of its former values, and the others", arguments: [false, true])
    func narrowed(_ endsPass: Bool) throws {
        for seed in [20, 21] as [UInt64] {
            // Given
            let (tier, history) = try used(seed)
            let place = try #require(history.entries.keys.min())
            let secret = try #require(history.entries[place])
            let others = history.entries.filter { $0.key != place }
            let position = Cursor(epoch: Sample.epoch, revision: .maximum)
            // When
            var operations: [EntryOperation] = [.evict(.key(Sample.key("notes/\(place)")), before: position)]
            if endsPass {
                operations = [.finishPass(2, at: position)]
                let confirmed = try others.keys.sorted().map { place in
                    let entry = try #require(try tier.entry(Sample.key("notes/\(place)")))
                    return EntryOperation.confirm(
                        Revalidation(
                            key: entry.key, epoch: entry.epoch, revision: entry.revision, asOf: entry.asOf, pass: 2,
                            verifiedAt: entry.verifiedAt))
                }
                _ = try tier.apply(DiskTransaction(id: TransactionID(1), entries: confirmed))
            }
            _ = try tier.apply(DiskTransaction(id: TransactionID(2), entries: operations))
            // Then
            #expect(try found(history.gone.filter { $0.hasPrefix("value-\(place)-") } + [secret]) == [], "seed \(seed)")
            let kept = others.values.sorted()
            #expect(try found(kept) == kept)
            try FileManager.default.removeItem(atPath: directory.path)
            try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        }
    }

    @Test("an erasure that was interrupted is completed when the file is opened again")
    func interrupted() throws {
        // Given a process that has ended after it had removed the records, and before it could erase them
        let gone: [String]
        do {
            let (tier, history) = try used(40)
            gone = history.gone + history.entries.values
            try tier.connection.transaction {
                try tier.connection.execute("DELETE FROM entry")
                try tier.connection.execute("DELETE FROM rejection")
                try tier.markUnerased()
            }
        }
        #expect(try !found(gone).isEmpty)
        // When
        let tier = try open()
        // Then
        #expect(try found(gone) == [] && tier.outbox().count > 0)
    }
}
