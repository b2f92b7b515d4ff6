import FreshetWire
import Testing

@testable import FreshetClient

@Suite("The transactions to come") struct TransactionsTests {
    private func name(_ input: QueuedInput?) -> String {
        switch input {
        case .page?: "page"
        case .discard?: "discard"
        case .noChange?: "no change"
        case .bind?: "bind"
        case .narrow?: "narrow"
        case .rename?: "rename"
        case .leaveName?: "leaveName"
        case .sets?: "sets"
        case .results?: "results"
        case .fetched?: "fetched"
        case .reconcile?: "reconcile"
        case .cachedKeysRevalidated?: "heldVerified"
        case .refreshed?: "refreshed"
        case .revalidationFinished?: "verificationOver"
        case .merged?: "merged"
        case nil: "none"
        }
    }

    private let all: [QueuedInput] = [
        .page(ChangePage(changes: [], cursor: Scene.position(3), upToDate: true), since: .start, lastWrite: nil),
        .noChange(Scene.position(3), since: .start, lastWrite: nil), .sets,
        .results(WriteResults(results: [], cursor: Scene.position(3)), lastWrite: nil), .fetched([], lastWrite: nil),
        .reconcile(last: 1, at: Scene.position(3)),
        .cachedKeysRevalidated([], ReadsResponse(records: [], missing: [], cursor: Scene.position(3)), lastWrite: nil),
        .revalidationFinished, .leaveName,
        .merged(LocalWriteID(1), .delete),
    ]

    private func waiting(_ transactions: inout Transactions) -> [String] {
        var names: [String] = []
        while let input = transactions.next() { names.append(name(input)) }
        return names
    }

    private var filled: Transactions {
        var transactions = Transactions()
        for input in all { transactions.add(input) }
        return transactions
    }

    @Test("waiting transactions are taken in the order in which they came")
    func order() {
        var transactions = filled
        #expect(waiting(&transactions) == all.map(name) && transactions.next() == nil)
    }

    @Test("a reset drops what came from the server, and a new pass the reads alone")
    func drops() {
        // Given
        var reset = filled
        var pass = filled
        // When
        reset.dropResponses()
        pass.dropFetches()
        // Then
        #expect(waiting(&reset) == ["sets", "merged"])
        #expect(waiting(&pass) == all.map(name).filter { $0 != "fetched" })
    }

    @Test("one transaction is under way, under an id that never comes again")
    func oneAtATime() {
        // Given
        var transactions = Transactions()
        #expect(transactions.isIdle && transactions.end() == nil)
        // When
        let first = transactions.begin(TransactionPlan(.outcomes), generation: 2)
        // Then
        #expect(!transactions.isIdle && transactions.isUnderWay(first) && first.generation == 2)
        #expect(!transactions.isUnderWay(TransactionID(first.number, generation: 1)))
        #expect(transactions.end() != nil && transactions.isIdle && !transactions.isUnderWay(first))
        // When
        let second = transactions.begin(TransactionPlan(.outcomes), generation: 2)
        // Then
        #expect(second > first && !transactions.isUnderWay(first))
    }

    @Test("when everything is forgotten, the answer to the transaction under way is not waited for")
    func removesAll() {
        // Given
        var transactions = filled
        let first = transactions.begin(TransactionPlan(.reset), generation: 0)
        // When
        transactions.removeAll()
        // Then
        #expect(transactions.isIdle && !transactions.isUnderWay(first) && transactions.next() == nil && transactions.underWay == nil)
        #expect(transactions.begin(TransactionPlan(.reset), generation: 1) > first)
    }
}
