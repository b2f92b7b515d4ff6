import FreshetServer
import FreshetWire

/// A store that reports each call before another store answers it, and can be like one behind a network.
final class ObservedStore: ForwardingStore {
    enum Call: Hashable {
        case read
        case transaction(TransactionScope)
    }

    /// How a transaction fails.
    enum Failure: Hashable {
        /// Nothing of it is stored.
        case undone(StoreError)
        /// All of it is stored.
        case stored(StoreError)
    }

    private struct Undone: Error {}

    let answersAtOnce: Bool
    let lanes: Int
    private let base: any RecordStore
    private let undoneRuns: Int
    private let failure: @Sendable () -> Failure?
    private let onCall: @Sendable (Call) -> Void

    /// - Parameters:
    ///   - undoneRuns: how many times the closure of each transaction runs and is undone before the run that is committed.
    ///   - failure: called for each transaction.
    ///   - onCall: called on the caller's thread.
    init(
        _ base: any RecordStore, answersAtOnce: Bool = true, lanes: Int = 1, undoneRuns: Int = 0,
        onCall: @escaping @Sendable (Call) -> Void = { _ in }, failure: @escaping @Sendable () -> Failure?
    ) {
        self.base = base
        self.answersAtOnce = answersAtOnce
        self.lanes = lanes
        self.undoneRuns = undoneRuns
        self.failure = failure
        self.onCall = onCall
    }

    convenience init(
        _ base: any RecordStore, answersAtOnce: Bool = true, lanes: Int = 1, undoneRuns: Int = 0,
        onCall: @escaping @Sendable (Call) -> Void = { _ in }
    ) {
        self.init(base, answersAtOnce: answersAtOnce, lanes: lanes, undoneRuns: undoneRuns, onCall: onCall, failure: { nil })
    }

    func transaction<Result: Sendable>(
        touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
    ) throws -> Result {
        onCall(.transaction(scope()))
        for _ in 0..<undoneRuns {
            do {
                try base.transaction(touching: scope) { transaction in
                    _ = try body(transaction)
                    throw Undone()
                }
            } catch is Undone {}
        }
        switch failure() {
        case .undone(let error)?: throw error
        case .stored(let error)?:
            _ = try base.transaction(touching: scope, body)
            throw error
        case nil: return try base.transaction(touching: scope, body)
        }
    }

    var reads: any RecordStore {
        onCall(.read)
        return base
    }

    var identifier: StoreIdentifier { base.identifier }
}
