import FreshetClient
import FreshetServer
import FreshetWire

/// Records every event and every value ever written, and checks the values that devices show against them (a test oracle).
final class Oracle {
    /// A point in a history.
    struct Point: Hashable {
        var history: Int
        var revision: Int64
    }

    /// What the server decided about a write.
    struct Outcome {
        /// The oracle's number of the write; none for one that no device sent.
        var write: Int?
        var verdict: WriteOutcome.Verdict
    }

    /// A broken rule, with a description for people.
    struct InvariantFailure: Error {
        var rule: Rule
        var text: String

        init(_ rule: Rule, _ text: String) {
            self.rule = rule
            self.text = text
        }
    }

    /// A write of a device, independent of its number on the wire.
    struct WriteRecord {
        var device: Int
        var writeID: LocalWriteID
        var key: RecordKey
        var operation: WriteOperation
        /// How often its user's closure may merge it yet; 0 for one without a closure.
        var mergesLeft: Int64 = 0
        /// Its user's closure made it of an earlier one. It comes before writes that wait for it, with lower ids.
        var isMerge = false
        /// Its user's closure kept the other value.
        var hasYielded = false
        /// It waited when a disk was copied, so each copy may send it.
        var isShared = false
        var timesSent = 0
        /// Where and at which revision it took effect.
        var applied: [(history: Int, revision: Int64)] = []
        /// The histories that decided it without effect: it was refused, or it deleted a record that did not exist.
        var refused: Set<Int> = []
        /// The histories that had decided another write under its number.
        var displaced: Set<Int> = []

        var name: String { "\(operation.name) \(key) (write \(writeID.number))" }
        var isRefused: Bool { !refused.isEmpty }
        var isDecided: Bool { isRefused || !applied.isEmpty }
    }

    /// The oracle's knowledge of a device in its current account.
    struct DeviceRecord {
        /// Its writes by receipt: 1, 2, 3 …
        var writeIDs: [Int] = []
        /// Those that are on its disk.
        var alive: [LocalWriteID] = []
        /// Those of which it has the server's verdict.
        var decided: Set<LocalWriteID> = []
        /// The highest revision shown of each key.
        var highest: [Point?]
        /// Its rejected writes that its user has not retried or discarded, as they must be on its disk, oldest first.
        var rejections: [LocalWriteID] = []
        /// All that were listed so far.
        var listed: Set<LocalWriteID> = []
        /// Those that the user has retried, with the operation, or discarded.
        var acknowledged: [LocalWriteID: [WriteOperation?]] = [:]
        /// The keys that it has asked for or written.
        var wanted: Set<Int> = []
        /// Those that it has asked for in its next account already.
        var wantedNext: Set<Int> = []
        /// Where its current reading of the feed began. It never receives earlier invalidations, and does not need them.
        var origin: Int64 = 0
        /// A failure that a commit caused, until it can be thrown.
        var failure: InvariantFailure?
        /// The last transaction was a reset's.
        var wasReset = false
    }

    let keys: [RecordKey]
    let numbers: [RecordKey: Int]
    private(set) var histories: [History] = []
    private(set) var current = 0
    private var historyOf: [Epoch: Int] = [:]
    private(set) var writes: [WriteRecord] = []
    /// Counts the changes of the facts that show whether a record contains a write.
    private(set) var decisions = 0
    var records: [DeviceRecord]
    /// The clients' names that are on a copied disk, and so may be those of two devices.
    var copiedNames: Set<ClientIdentifier> = [] { didSet { decisions += 1 } }
    /// By the keys' numbers: the revision below which no read may answer, since an earlier read or verdict has reported it.
    private var floors: [Point]
    /// Where the server stood over time.
    private var positions: [(time: Int64, point: Point)] = []

    init(keys: [RecordKey], devices: Int) {
        self.keys = keys
        numbers = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
        records = Array(repeating: DeviceRecord(highest: Array(repeating: nil, count: keys.count)), count: devices)
        floors = Array(repeating: Point(history: 0, revision: 0), count: keys.count)
    }

    func history(_ epoch: Epoch) -> Int? { historyOf[epoch] }

    /// Where the server stands.
    var position: Point { Point(history: current, revision: histories[current].head) }

    // MARK: The server

    /// A new history begins with nothing.
    func open(_ cursor: Cursor, at time: Int64 = 0) { begin(History(cursor, keys: keys.count), at: time) }

    /// A new history begins where another one was.
    func restored(_ point: Point, _ cursor: Cursor, at time: Int64) {
        begin(History(cursor, of: histories[point.history], number: point.history, through: point.revision), at: time)
    }

    private func begin(_ history: History, at time: Int64) {
        decisions += 1
        current = histories.count
        historyOf[history.epoch] = current
        histories.append(history)
        positions.append((time, position))
    }

    /// A transaction is on the server's disk.
    func committed(_ commit: NamespaceCommit, _ outcomes: [Outcome], at time: Int64) throws(InvariantFailure) {
        var authors: [Int64: Int] = [:]
        for outcome in outcomes {
            if let write = outcome.write, case .applied(let revision?) = outcome.verdict { authors[revision.number] = write }
        }
        for change in commit.changes {
            let revision = change.revision.number
            guard revision == histories[current].head + 1 else {
                throw InvariantFailure(.nothingInvented, "the revision after \(histories[current].head) is \(revision)")
            }
            let write = authors[revision]
            if let write { try note(write, at: revision) }
            switch change.effect {
            case .put(let key, let content, _, _):
                guard let number = numbers[key] else { break }
                if let write { try check(write, made: content, from: histories[current].version(of: number, at: revision)?.content) }
                histories[current].add(History.Version(revision: revision, content: content), of: number)
            case .delete(let key):
                if let number = numbers[key] { histories[current].add(History.Version(revision: revision, content: nil), of: number) }
            case .invalidate(let scope):
                for (number, key) in keys.enumerated() where scope.contains(key) { histories[current].invalidate(number, at: revision) }
            }
            histories[current].head = revision
        }
        positions.append((time, position))
    }

    private func note(_ write: Int, at revision: Int64) throws(InvariantFailure) {
        if let earlier = appliedRevision(of: write, in: current), !isUnderTwoNames(write) {
            throw InvariantFailure(.exactlyOnce, "\(writes[write].name) took effect twice: at \(earlier) and at \(revision)")
        }
        if let later = firstLater(than: write), let its = appliedRevision(of: later, in: current) {
            throw InvariantFailure(
                .linearizable, "\(writes[write].name) took effect at \(revision), after \(writes[later].name) at \(its)")
        }
        decisions += 1
        writes[write].applied.append((current, revision))
    }

    /// The first write of the same record that has taken effect already, though a device that waits with this one made it later.
    ///
    /// A device that has the verdict on this one does not count: after a restore, a copy may have it decided again. Nor does a later
    /// write that another copy may have sent (docs/decisions/0040-copied-devices.md).
    private func firstLater(than write: Int) -> Int? {
        for record in records {
            guard let place = record.writeIDs.lastIndex(of: write), !record.decided.contains(LocalWriteID(Int64(place + 1))) else {
                continue
            }
            let later = record.writeIDs[(place + 1)...].first {
                writes[$0].key == writes[write].key && !writes[$0].isMerge && !writes[$0].isShared
                    && appliedRevision(of: $0, in: current) != nil
            }
            if let later { return later }
        }
        return nil
    }

    private func check(_ write: Int, made content: Content?, from before: Content?) throws(InvariantFailure) {
        var replay = Replay(before.map { .content($0) } ?? .absent)
        if case .increment(let increment) = writes[write].operation, let flaw = Replay.flaw(increment, made: content, from: before) {
            throw InvariantFailure(.nothingInvented, "\(writes[write].name) took effect, and \(flaw)")
        }
        replay.apply(writes[write].operation)
        guard replay.value.content == content else {
            throw InvariantFailure(
                .nothingInvented, "the server made \(Replay.text(content)) of \(Replay.text(before)) by \(writes[write].name)")
        }
    }

    /// The server has decided about writes, now or long ago.
    func decided(_ outcomes: [Outcome]) throws(InvariantFailure) {
        for outcome in outcomes {
            guard let write = outcome.write else { continue }
            decisions += 1
            switch outcome.verdict {
            case .applied(let revision?):
                guard appliedRevision(of: write, in: current) == revision.number else {
                    throw InvariantFailure(
                        .exactlyOnce, "\(writes[write].name) is answered with revision \(revision), where it had no effect")
                }
            // Nothing was decided about this device's write.
            case .rejected(let problem) where problem.code == .numberTaken: writes[write].displaced.insert(current)
            case .applied(nil), .rejected: writes[write].refused.insert(current)
            case .settled: break
            }
        }
    }

    /// Notes that the server has acknowledged all changes so far.
    func acknowledged() { histories[current].acknowledged = histories[current].head }

    /// Checks after a restart that the server's disk has kept all acknowledged changes.
    func serverStarted(_ state: NamespaceState) -> String? {
        guard state.epoch == histories[current].epoch else { return nil }
        let head = state.head.number
        if head < histories[current].acknowledged {
            return "the server's disk ends at \(head) after the crash, and \(histories[current].acknowledged) was acknowledged"
        }
        decisions += 1
        histories[current].cut(after: head)
        return nil
    }

    /// Whether the present history may contain the write under an earlier name too. A history in which its number was left out had it renamed, and the
    /// present one does not continue from that history.
    func isUnderTwoNames(_ write: Int) -> Bool { writes[write].displaced.contains { !goesOn(current, from: $0) } }

    /// Whether a history is another one, or began from what that had become.
    private func goesOn(_ history: Int, from other: Int) -> Bool {
        var number = history
        while number != other {
            guard let parent = histories[number].parent else { return false }
            number = parent.history
        }
        return true
    }

    /// At which revision the write took effect in what became the history.
    func appliedRevision(of write: Int, in history: Int) -> Int64? {
        var (number, limit) = (history, Int64.max)
        while true {
            if let found = writes[write].applied.first(where: { $0.history == number && $0.revision <= limit }) { return found.revision }
            guard let parent = histories[number].parent else { return nil }
            (number, limit) = (parent.history, min(limit, parent.through))
        }
    }

    /// Where the server stood at a time. O(log n).
    func position(at time: Int64) -> Point {
        let count = History.count(in: positions.count) { positions[$0].time <= time }
        return positions[max(0, count - 1)].point
    }

    // MARK: Order of reads and writes

    func floor(of key: RecordKey) -> Point { numbers[key].map { floors[$0] } ?? Point(history: current, revision: 0) }

    private func raise(_ key: RecordKey, _ history: Int, _ revision: Int64) {
        guard let number = numbers[key] else { return }
        if floors[number].history != history || floors[number].revision < revision {
            floors[number] = Point(history: history, revision: revision)
        }
    }

    /// Checks a device's statement that there is no record; returns a description if the server had one.
    func claimed(_ absence: Entry) -> String? {
        guard let number = numbers[absence.key], let history = history(absence.epoch),
            let content = histories[history].version(of: number, at: absence.asOf.number)?.content
        else { return nil }
        return "a copy says that there is no \(absence.key) at \(absence.asOf), where the server had \(Replay.text(content))"
    }

    /// Checks a view that a read returned; returns a description if it is too old.
    func returned(_ view: KeyView, of key: RecordKey, _ floor: Point) -> String? {
        guard let entry = view.entry, let history = history(entry.epoch), history == floor.history else { return nil }
        if entry.asOf.number < floor.revision {
            return "a read of \(key) gave the state of \(entry.asOf), although \(floor.revision) had been reported before it began"
        }
        raise(key, history, entry.revision.number)
        return nil
    }

    // MARK: Devices' writes

    /// The batch leaves; gives its writes by their numbers.
    func sent(_ batch: WriteBatch, _ device: SimulatedDevice) -> [Int64: Int] {
        var origins: [Int64: Int] = [:]
        guard let first = batch.writes.first?.number, let last = batch.writes.last?.number, first <= last else { return [:] }
        let numbers = first...last
        for row in device.store.rows.values where numbers.contains(row.number) && row.state == .pending {
            guard let write = write(row.writeID, of: device) else { continue }
            if let sent = batch.writes.first(where: { $0.number == row.number }), sent.operation != row.operation {
                // A write behind another one that moves to another name moves with it.
                if device.store.rows.values.contains(where: { $0.isDisplaced && $0.number < row.number }) { continue }
                // The server here takes every batch apart, so nothing entitles a device to give a write up.
                let text =
                    "the device gives \(writes[write].name) up: it sends another operation under that number, and the server had not refused it"
                records[device.number].failure = records[device.number].failure ?? InvariantFailure(.exactlyOnce, text)
            }
            origins[row.number] = write
            writes[write].timesSent += 1
        }
        return origins
    }

    func timesSent(_ write: Int) -> Int { writes[write].timesSent }

    func write(_ writeID: LocalWriteID, of device: SimulatedDevice) -> Int? {
        let place = Int(writeID.number) - 1
        return records[device.number].writeIDs.indices.contains(place) ? records[device.number].writeIDs[place] : nil
    }

    /// Notes that the device's disk was copied.
    func copied(_ device: SimulatedDevice) {
        copiedNames.insert(device.store.state.client)
        for writeID in device.store.rows.keys {
            if let write = write(writeID, of: device) { writes[write].isShared = true }
        }
    }

    func add(_ record: WriteRecord) -> Int {
        writes.append(record)
        return writes.count - 1
    }

    /// Checks that a write is on disk when the device reports to its user that it is kept.
    func accepted(_ device: SimulatedDevice, _ writeID: LocalWriteID, _ key: RecordKey) -> String? {
        guard let write = write(writeID, of: device), writes[write].key == key else {
            return "the device accepted write \(writeID.number), which its disk never had"
        }
        guard device.store.rows[writeID] != nil || writes[write].isDecided else {
            return "the device accepted \(writes[write].name), which is not on its disk"
        }
        return nil
    }

    /// The user's closure kept the other value.
    func yielded(_ device: SimulatedDevice, _ writeID: LocalWriteID) {
        if let write = write(writeID, of: device) { writes[write].hasYielded = true }
    }

    /// Checks the verdict on a write that the device reports to its user.
    func decided(_ device: SimulatedDevice, _ writeID: LocalWriteID, _ verdict: LocalWriteOutcome) -> String? {
        guard let write = write(writeID, of: device) else { return nil }
        switch verdict {
        case .applied(let revision):
            guard !writes[write].applied.isEmpty || writes[write].isRefused && revision == nil else {
                return "the device says that \(writes[write].name) is applied, and the server never applied it"
            }
            if let revision, appliedRevision(of: write, in: current) == revision.number {
                raise(writes[write].key, current, revision.number)
            }
        case .rejected(let problem):
            guard writes[write].isRefused || appliedRevision(of: write, in: current) == nil else {
                return "the device says that \(writes[write].name) is rejected (\(problem.code)), and the server applied it"
            }
            guard problem.code != .preconditionFailed || writes[write].mergesLeft == 0 || writes[write].hasYielded else {
                return "the device says that \(writes[write].name) is rejected, and its merge closure was never called"
            }
        case .merged:
            guard writes[write].isRefused else { return "the device merged \(writes[write].name), which the server never refused" }
        case .cleared: break
        }
        return nil
    }
}
