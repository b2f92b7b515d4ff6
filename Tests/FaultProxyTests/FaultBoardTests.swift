import FreshetFaultProxy
import FreshetWire
import Testing

@Suite("Fault board") struct FaultBoardTests {
    @Test("a request that is struck is not held if the faults are lifted before it is")
    func liftedBetweenStrikeAndHold() async throws {
        // Given a fault that has struck a request, and was lifted as soon as that was known
        let (board, namespace) = (FaultBoard(), try Namespace("shop"))
        _ = board.arm(Fault(.freeze), in: namespace)
        let strike = try #require(board.strike(.writes, nil, in: namespace))
        board.lift(namespace)
        // When the request is to be held; Then it goes on
        await withCheckedContinuation { continuation in _ = board.hold(strike, nil) { continuation.resume() } }
        #expect(board.heldCount == 0)
    }

    @Test("a request is held until its own namespace's faults are lifted")
    func liftedElsewhere() async throws {
        // Given a fault that has struck, and faults of another namespace that were lifted
        let (board, namespace) = (FaultBoard(), try Namespace("shop"))
        _ = board.arm(Fault(.freeze), in: namespace)
        let strike = try #require(board.strike(.writes, nil, in: namespace))
        board.lift(try Namespace("other"))
        await withCheckedContinuation { continuation in
            // When
            _ = board.hold(strike, nil) { continuation.resume() }
            // Then
            #expect(board.heldCount == 1)
            board.lift(namespace)
        }
        #expect(board.heldCount == 0)
    }
}
