import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

@testable import FreshetClient

@Suite struct DiskTierTests {
    private let directory = TemporaryDirectory()

    private func open(fileLimit: Int? = nil) throws -> DiskTier {
        try DiskTier(directory: directory.path, namespace: Sample.namespace, client: Sample.client, fileLimit: fileLimit)
    }

    private func transaction(
        entries: [EntryOperation] = [], outbox: [OutboxOperation] = [], state: [StateChange] = [], clear: ClientIdentifier? = nil
    ) -> DiskTransaction {
        DiskTransaction(id: TransactionID(1), clear: clear, entries: entries, outbox: outbox, state: state)
    }

    private func error(_ body: () throws -> Void) -> ClientError? {
        do {
            try body()
            return nil
        } catch {
            return error as? ClientError ?? DiskTier.clientError(error, directory.file("freshet.sqlite"))
        }
    }

    // MARK: Erasing

    @Test("The log is emptied when a pass has removed a value, and not when it has removed none")
    func onlyARemovalEmptiesTheLog() throws {
        // Given a tier with an entry of the present pass in its log
        let tier = try open()
        let log = directory.file("freshet.sqlite-wal")
        func logSize() throws -> Int {
            var status = stat()
            try #require(stat(log, &status) == 0)
            return Int(status.st_size)
        }
        let entry = Sample.entry("notes/1", 1)
        _ = try tier.apply(transaction(entries: [.put(entry, onlyIfCached: false)]))
        // When a pass ends that has confirmed it
        _ = try tier.apply(transaction(entries: [.finishPass(1, at: Cursor(epoch: Sample.epoch, revision: entry.revision))]))
        // Then its change waits in the log
        #expect(try logSize() > 0)
        // When a pass ends that has not
        _ = try tier.apply(transaction(entries: [.finishPass(2, at: Cursor(epoch: Sample.epoch, revision: .maximum))]))
        // Then no byte of it is left there
        #expect(try logSize() == 0)
    }

    // MARK: Stored data

    @Test func aTransactionIsThereAfterTheFileIsOpenedAgain() throws {
        // Given a tier with an entry, a known absence, a write with its watermark, and a state
        let row = Sample.row(1, "notes/1", .put(Sample.json("{\"a\":1}")))
        let watermark = WriteWatermark(epoch: Sample.epoch, number: 1)
        do {
            let tier = try open()
            _ = try tier.apply(
                transaction(
                    entries: [
                        .put(Sample.entry("notes/1", 4, Sample.json("{}")), onlyIfCached: false),
                        .put(Sample.entry("notes/ü~1", 5, nil), onlyIfCached: false),
                        .put(Sample.entry("blobs/x", 6, Content(bytes: [0, 255, 0], type: "image/png")), onlyIfCached: false),
                        .put(Sample.entry("blobs/empty", 7, Content(bytes: [], type: "text/plain")), onlyIfCached: false),
                    ],
                    outbox: [.put(row), .watermark(row.key, watermark)],
                    state: [.nextNumber(2), .nextWriteID(2), .cursor(Sample.cursor(7)), .epoch(Sample.epoch), .pass(3)]))
        }
        // When it is opened again
        let tier = try open()
        let persisted = try tier.load()
        // Then all is there
        #expect(persisted.state.client == Sample.client)
        #expect(persisted.state.nextNumber == 2 && persisted.state.cursor == Sample.cursor(7) && persisted.state.pass == 3)
        #expect(persisted.outbox == [row])
        #expect(persisted.bases == [Sample.entry("notes/1", 4, Sample.json("{}"))])
        #expect(persisted.watermarks == [row.key: watermark])
        #expect(try tier.entry(Sample.key("notes/ü~1")) == Sample.entry("notes/ü~1", 5, nil))
        #expect(try tier.entry(Sample.key("blobs/x"))?.content == Content(bytes: [0, 255, 0], type: "image/png"))
        #expect(try tier.entry(Sample.key("blobs/empty"))?.content == Content(bytes: [], type: "text/plain"))
        #expect(try tier.entry(Sample.key("notes/none")) == nil)
        #expect(try tier.ids(in: "notes") == ["1"])
        #expect(try tier.entries(in: "blobs").map(\.key.id) == ["empty", "x"])
    }

    @Test("a file without watermarks: records with writes under way are not known, and everything is verified")
    func fileWithoutWatermarks() throws {
        // Given a file of version 2 with a write under way
        do {
            let tier = try open()
            _ = try tier.apply(
                transaction(
                    entries: [
                        .put(Sample.entry("notes/1", 4, Sample.json("{}")), onlyIfCached: false),
                        .put(Sample.entry("notes/2", 5, Sample.json("{}")), onlyIfCached: false),
                    ],
                    outbox: [.put(Sample.row(1, "notes/1", .delete))], state: [.nextNumber(2), .cursor(Sample.cursor(7)), .scope("held::")])
            )
            try tier.undoRefreshes()
            try tier.connection.execute("DROP TABLE watermark; CREATE TABLE frozen(collection TEXT, id TEXT)")
            try tier.connection.setUserVersion(2)
        }
        // When
        let persisted = try open().load()
        // Then
        #expect(persisted.outbox.count == 1 && persisted.bases.isEmpty && persisted.watermarks.isEmpty)
        #expect(persisted.state.cursor == Sample.cursor(7) && persisted.state.scope != "held::")
        #expect(try open().entry(Sample.key("notes/2")) != nil)
    }

    @Test("a file that says nothing of invalidated records and left-out values: all stay, and everything is verified")
    func fileWithoutRefreshes() throws {
        // Given a file of version 3
        do {
            let tier = try open()
            let entries = [EntryOperation.put(Sample.entry("notes/1", 4, Sample.json("{}")), onlyIfCached: false)]
            _ = try tier.apply(transaction(entries: entries, state: [.cursor(Sample.cursor(7)), .scope("held::")]))
            try tier.undoRefreshes()
            try tier.connection.setUserVersion(3)
        }
        // When
        let persisted = try open().load()
        // Then
        #expect(persisted.state.cursor == Sample.cursor(7) && persisted.state.scope != "held::" && !persisted.needsRefresh)
        #expect(try open().entry(Sample.key("notes/1"))?.needsRefresh == false)
    }

    @Test func theDeviceKeepsItsName() throws {
        _ = try open()
        let other = try DiskTier(directory: directory.path, namespace: Sample.namespace, client: ClientIdentifier("another"))
        #expect(other.state.client == Sample.client)
    }

    @Test func clearLeavesNothingOfBefore() throws {
        let tier = try open()
        _ = try tier.apply(
            transaction(
                entries: [.put(Sample.entry("notes/1", 4, Sample.json("\"a-secret-text\"")), onlyIfCached: false)],
                outbox: [
                    .put(Sample.row(1, "notes/1", .delete)),
                    .watermark(Sample.key("notes/1"), WriteWatermark(epoch: Sample.epoch, number: 1)),
                ], state: [.nextNumber(2)]))
        let next = try ClientIdentifier("device-2")
        _ = try tier.apply(transaction(clear: next))
        let persisted = try tier.load()
        #expect(persisted == PersistedState(state: SyncState(client: next)))
        #expect(try tier.entry(Sample.key("notes/1")) == nil)
        // Not even in pages that are free
        try tier.connection.checkpoint(truncating: true)
        let descriptor = Glibc.open(directory.file("freshet.sqlite"), O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(descriptor, &bytes, bytes.count)
        close(descriptor)
        #expect(!String(decoding: bytes[..<count], as: UTF8.self).contains("a-secret-text"))
    }

    @Test(arguments: 0..<20) func itDoesWhatTheRulesSay(_ seed: Int) throws {
        // Given random transactions over few keys, epochs and passes
        var random = SeededGenerator(seed: UInt64(seed))
        let written = Sample.row(1, "a/1", .put(Sample.json("1")))
        func pick<Element>(_ elements: [Element]) -> Element { elements[Int(random.next() % UInt64(elements.count))] }
        let keys = ["a/1", "a/12", "a/2", "a/é", "a/e\u{301}", "b/1", "b/\u{10FFFF}x"]
        let epochs = [Epoch("e1")!, Epoch("e2")!]
        func entry() -> Entry {
            let revision = Int64(random.next() % 6)
            return Sample.entry(
                pick(keys), revision, asOf: revision + Int64(random.next() % 3), pass: Int64(1 + random.next() % 3), epoch: pick(epochs),
                random.next() % 3 == 0 ? nil : Sample.json("\(random.next() % 100)"), origin: pick([.feed, .fetch, .ownWrite, .rejection]))
        }
        func revalidation() -> FreshetClient.Revalidation {
            let entry = entry()
            return FreshetClient.Revalidation(
                key: entry.key, epoch: entry.epoch, revision: entry.revision, asOf: entry.asOf, pass: entry.pass,
                verifiedAt: Timestamp(milliseconds: Int64(random.next() % 5_000)))
        }
        func operation() -> EntryOperation {
            switch random.next() % 12 {
            case 0...4: return .put(entry(), onlyIfCached: random.next() % 3 == 0)
            case 5: return .confirm(revalidation())
            case 6: return .withoutValue(revalidation(), keepsValue: random.next() % 2 == 0)
            case 7...9:
                let scope = pick([
                    InvalidationScope.everything, .key(Sample.key(pick(keys))), .collection("a", prefix: ""), .collection("a", prefix: "1"),
                    .collection("a", prefix: "e"), .collection("b", prefix: "\u{10FFFF}"),
                ])
                let position = Sample.cursor(Int64(random.next() % 8), pick(epochs))
                return random.next() % 3 == 0 ? .evict(scope, before: position) : .invalidate(scope, at: position)
            case 10:
                return .inherit(
                    Inheritance(
                        previous: pick(epochs), fork: Revision(Int64(random.next() % 8)) ?? .zero, epoch: pick(epochs),
                        pass: Int64(2 + random.next() % 2), writtenKeys: [written.key]))
            default: return .finishPass(Int64(1 + random.next() % 3), at: Sample.cursor(Int64(random.next() % 8), pick(epochs)))
            }
        }
        let tier = try open()
        var model = VolatileStore(client: Sample.client)
        // And a write that waits
        let write = transaction(outbox: [.put(written)])
        #expect(try tier.apply(write) == model.commit(write))
        for turn in 0..<300 {
            // When both carry them out
            let transaction = transaction(entries: (0..<(1 + random.next() % 4)).map { _ in operation() })
            let skipped = try tier.apply(transaction)
            // Then both hold the same, and the skipped operations had no effect in the model, which also counts operations that leave
            // their row as it was
            let expected = model.commit(transaction)
            #expect(Set(skipped).isSubset(of: expected), "turn \(turn): \(transaction.entries)")
            for key in keys.map(Sample.key) { #expect(try tier.entry(key) == model.entries[key], "turn \(turn): \(transaction.entries)") }
            let query = CachedKeyQuery(.before(pass: 3), after: random.next() % 2 == 0 ? nil : Sample.key("a/12"), limit: 3)
            #expect(try tier.cachedKeys(query) == model.cachedKeys(query))
            let refresh = CachedKeyQuery(.needingRefresh, after: query.after, limit: 3)
            #expect(try tier.cachedKeys(refresh) == model.cachedKeys(refresh))
            #expect(try tier.load().needsRefresh == model.persisted.needsRefresh)
        }
    }

    @Test func whatComesAfterAPrefix() {
        #expect("a".nextAfterAllWithPrefix == "b")
        #expect("a\u{10FFFF}".nextAfterAllWithPrefix == "b")
        #expect("\u{10FFFF}".nextAfterAllWithPrefix == nil)
        #expect("\u{D7FF}".nextAfterAllWithPrefix == "\u{E000}")
    }

    // MARK: Failures

    @Test func aFullDiskIsAnErrorAndNothingIsLost() throws {
        // Given a file that may not grow beyond 16 pages, with a write in it
        let tier = try open(fileLimit: 65_536)
        let first = Sample.row(1, "notes/1", .put(Sample.json("1")))
        _ = try tier.apply(transaction(outbox: [.put(first)], state: [.nextNumber(2)]))
        // When a change comes that is larger than the remaining room
        let large = Sample.entry("notes/2", 5, Content(bytes: [UInt8](repeating: 7, count: 200_000), type: "image/png"))
        let failure = error {
            _ = try tier.apply(transaction(entries: [.put(large, onlyIfCached: false)], state: [.cursor(Sample.cursor(5))]))
        }
        // Then it is refused whole, in memory too, and the earlier data is still there
        #expect(failure == .diskFull(path: directory.file("freshet.sqlite")))
        #expect(tier.state.cursor == nil && tier.state.nextNumber == 2)
        #expect(try tier.entry(large.key) == nil)
        #expect(try tier.load().outbox == [first])
        // And smaller things still go in
        _ = try tier.apply(transaction(entries: [.put(Sample.entry("notes/3", 6), onlyIfCached: false)]))
        #expect(try tier.entry(Sample.key("notes/3")) != nil)
    }

    @Test func aSecondOpenerIsToldWhoHasIt() throws {
        let first = try open()
        let failure = error { _ = try open() }
        #expect(failure == .directoryInUse(path: directory.path, holder: "another client of this process \(getpid())"))
        // And the first one goes on
        _ = try first.apply(transaction(state: [.nextNumber(9)]))
        #expect(first.state.nextNumber == 9)
    }

    @Test func aNewerSchemaIsLeftAlone() throws {
        _ = try open()
        let connection = try Connection(path: directory.file("freshet.sqlite"))
        try connection.setUserVersion(99)
        try connection.checkpoint(truncating: true)
        let failure = error { _ = try open() }
        #expect(failure == .newerSchema(path: directory.file("freshet.sqlite"), found: 99, supported: Int(DiskTier.schemaVersion)))
        #expect(try connection.userVersion == 99)
        #expect(!directory.files.contains { $0.contains("corrupt") })
    }

    @Test func anotherNamespaceIsRefused() throws {
        _ = try open()
        let failure = error { _ = try DiskTier(directory: directory.path, namespace: Namespace("other"), client: Sample.client) }
        guard case .invalidConfiguration(let text)? = failure else {
            Issue.record("got \(String(describing: failure))")
            return
        }
        #expect(text.contains("'test'") && text.contains("'other'"))
    }

    @Test func aFileThatIsNoDatabaseIsMovedAsideAndTheNextOpeningBeginsAnew() throws {
        // Given a file of something else
        directory.write([UInt8](repeating: 0x41, count: 8_192), to: "freshet.sqlite")
        // When it is opened
        let failure = error { _ = try open() }
        // Then it was moved aside, the error says where, and its bytes are kept
        guard case .corrupt(directory.file("freshet.sqlite"), let quarantine)? = failure else {
            Issue.record("got \(String(describing: failure))")
            return
        }
        #expect(quarantine.hasPrefix(directory.file("freshet.sqlite.corrupt-")))
        #expect(access(quarantine, F_OK) == 0)
        #expect(failure?.description.contains(quarantine) == true)
        // And the next opening begins with an empty file
        #expect(try open().load().outbox.isEmpty)
    }

    @Test func damageWithinTheFileIsFoundWhenItIsMet() throws {
        // Given a file with many entries, damaged in its middle
        do {
            let tier = try open()
            let entries = (0..<500).map {
                EntryOperation.put(
                    Sample.entry("notes/\($0)", 5, Sample.json("\"\(String(repeating: "x", count: 200))\"")), onlyIfCached: false)
            }
            _ = try tier.apply(transaction(entries: entries))
            try tier.connection.checkpoint(truncating: true)
        }
        directory.write([UInt8](repeating: 0xFF, count: 60_000), to: "freshet.sqlite", at: 40_960)
        // When everything is read
        let failure = error { _ = try open().entries(in: "notes") }
        // Then the damage is called by its name
        guard case .corrupt? = failure else {
            Issue.record("got \(String(describing: failure))")
            return
        }
    }

    @Test func aDirectoryThatCannotBeMadeSaysSo() {
        directory.write([1], to: "file")
        let failure = error {
            _ = try DiskTier(directory: directory.file("file/below"), namespace: Sample.namespace, client: Sample.client)
        }
        guard case .storageFailed(_, let text)? = failure else {
            Issue.record("got \(String(describing: failure))")
            return
        }
        #expect(text.contains("name a directory"))
    }

    /// Root may write anywhere, so for root the kernel is asked to make the directory immutable instead; where it cannot, nothing is tested.
    @Test(.enabled(if: getuid() != 0, "root may write to read-only directories")) func aReadOnlyDirectorySaysSo() {
        chmod(directory.path, 0o500)
        #expect(error { _ = try open() } == .readOnly(path: directory.path))
    }

    @Test func aReadOnlyFileSystemSaysSo() {
        // /proc takes no files, from any user.
        let failure = error { _ = try DiskTier(directory: "/proc/freshet", namespace: Sample.namespace, client: Sample.client) }
        #expect(failure != nil)
    }

    @Test func directoriesAreMadeOnTheWay() throws {
        let path = directory.path + "/a/b"
        _ = try DiskTier(directory: path, namespace: Sample.namespace, client: Sample.client)
        #expect(access(path + "/freshet.sqlite", F_OK) == 0)
        for name in ["freshet.sqlite", "freshet.sqlite-wal", "freshet.sqlite-shm", "freshet.lock"] { unlink(path + "/" + name) }
        rmdir(path)
        rmdir(directory.path + "/a")
    }
}
