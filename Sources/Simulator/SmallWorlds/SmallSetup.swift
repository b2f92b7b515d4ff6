import FreshetClient
import FreshetWire

/// What a small world consists of, and which events the search may choose in it.
package final class SmallSetup: Sendable {
    /// A kind of record, by the writes that it takes.
    enum Kind: String, Sendable, CaseIterable {
        /// Puts and deletes.
        case register
        /// Increments.
        case counter
        /// Merge patches.
        case document
    }

    /// A write that a device may make.
    enum Operation: String, Sendable, Hashable {
        case put
        case delete
        case putUnlessChanged
        case putMerged
        case patch
        case increment
        case incrementMerged
    }

    struct Device: Sendable {
        var settings: SyncSettings
        /// The writes that it may make, each with the number of its key.
        var operations: [(operation: Operation, key: Int)]
    }

    /// How often each kind of event may occur on one path.
    typealias Limits = [SmallMove.Kind: Int]

    package let name: String
    /// What the world is for, in a line.
    package let summary: String
    let kinds: [Kind]
    let keys: [RecordKey]
    let devices: [Device]
    let limits: Limits
    /// How many outcomes the server keeps for each device.
    package let keptOutcomes: Int64
    /// Whether the world begins with devices that are live, rather than with devices that know nothing.
    package let beginsLive: Bool
    /// Whether rejections show their records with the values.
    let showsValues: Bool
    let numbers: [RecordKey: Int]
    let bug: SmallBug?
    /// The name of the one merge closure.
    let closure = MergeName("join")

    init(
        name: String, summary: String, kinds: [Kind], following: [SyncSettings.Following], operations: [[Operation]], limits: Limits,
        keptOutcomes: Int64 = .max, pageLimit: Int = 1_000, beginsLive: Bool = true, showsValues: Bool = true,
        bug: SmallBug? = nil
    ) {
        self.name = name
        self.summary = summary
        self.kinds = kinds
        let keys = kinds.compactMap { try? RecordKey(collection: $0.rawValue, id: "1") }
        self.keys = keys
        devices = zip(following, operations).map { following, operations in
            var settings = SyncSettings()
            settings.following = following
            settings.pageLimit = pageLimit
            settings.historyCapacity = 0
            // Without a timeout, states that differ only in how long a caller has waited are equal.
            settings.readTimeout = .max
            return Device(settings: settings, operations: Self.placed(operations, kinds))
        }
        self.limits = limits
        self.keptOutcomes = keptOutcomes
        self.beginsLive = beginsLive
        self.showsValues = showsValues
        self.bug = bug
        numbers = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
    }

    /// The same world with a broken implementation.
    package func broken(by bug: SmallBug) -> SmallSetup { SmallSetup(self, bug) }

    private init(_ other: SmallSetup, _ bug: SmallBug) {
        name = other.name
        summary = other.summary
        kinds = other.kinds
        keys = other.keys
        devices = other.devices
        limits = other.limits
        keptOutcomes = other.keptOutcomes
        beginsLive = other.beginsLive
        showsValues = other.showsValues
        numbers = other.numbers
        self.bug = bug
    }

    /// Each operation with a key whose kind takes it.
    private static func placed(_ operations: [Operation], _ kinds: [Kind]) -> [(operation: Operation, key: Int)] {
        operations.compactMap { operation in
            let wanted: [Kind] =
                switch operation {
                case .put, .delete, .putUnlessChanged, .putMerged: [.register, .document]
                case .patch: [.document]
                case .increment, .incrementMerged: [.counter]
                }
            return wanted.lazy.compactMap { kinds.firstIndex(of: $0) }.first.map { (operation, $0) }
        }
    }

    /// A value that shows where it came from: no two writes of a path have the same mark.
    func value(_ mark: String, _ key: Int) -> Content {
        switch kinds[key] {
        case .register: Content(checkedJSON: Array("\"\(mark)\"".utf8))
        case .counter, .document: Content(checkedJSON: Array("{\"\(mark)\":1}".utf8))
        }
    }

    func write(_ operation: Operation, _ mark: String, _ key: Int) -> (operation: WriteOperation, policy: ConflictPolicy) {
        switch operation {
        case .put: (.put(value(mark, key)), .lastWriterWins)
        case .delete: (.delete, .lastWriterWins)
        case .putUnlessChanged: (.put(value(mark, key)), .rejectIfChanged)
        case .putMerged: (.put(value(mark, key)), .merge(closure))
        case .patch: (.patch(Array("{\"\(mark)\":1}".utf8)), .lastWriterWins)
        case .increment: (increment(mark), .lastWriterWins)
        case .incrementMerged: (increment(mark), .merge(closure))
        }
    }

    private func increment(_ mark: String) -> WriteOperation {
        (try? JSONPointer("/\(mark)")).map { .increment(path: $0, by: .integer(1)) } ?? .delete
    }
}
