import Testing

@testable import FreshetSocketHTTP

@Suite("Connection state")
struct ConnectionStateTests {
    private static func slot(_ number: UInt32, _ traits: RequestSlot.Traits = []) -> RequestSlot {
        RequestSlot(number: number, traits: traits)
    }

    @Test("One request is handled at a time")
    func exclusive() {
        // Given one that is pending
        var state = ConnectionState()
        #expect(state.mayAdmit)
        #expect(state.admit(isFinal: false) == 0)
        #expect(!state.mayAdmit)

        // When it is answered, Then the next is admitted
        state.finishTurn(closes: false)
        #expect(state.mayAdmit)
        #expect(state.turn == 1)
    }

    @Test("After the last request nothing is admitted and nothing read")
    func final() {
        var state = ConnectionState()
        _ = state.admit(isFinal: true)
        #expect(!state.mayAdmit)
        #expect(!state.wantsInput(isStalled: false))
    }

    @Test("While draining, the last answer due closes the connection, and none before it")
    func draining() {
        // Given a pending request, and a refusal behind it
        var state = ConnectionState()
        let first = state.admit(isFinal: false)
        let second = state.admit(isFinal: false)

        // When the server drains, Then only the second answer closes
        #expect(!state.closes(after: ConnectionStateTests.slot(first), isDraining: true))
        state.finishTurn(closes: false)
        #expect(state.closes(after: ConnectionStateTests.slot(second), isDraining: true))
        #expect(!state.closes(after: ConnectionStateTests.slot(second), isDraining: false))
    }

    @Test("A connection that its client ends is closed at once")
    func clientCloses() {
        var state = ConnectionState()
        let number = state.admit(isFinal: true)
        #expect(state.closes(after: ConnectionStateTests.slot(number, .closes), isDraining: false))
        state.finishTurn(closes: true)
        #expect(state.end() == .close)
    }

    @Test("One that the server ends lingers, until the peer has ended too")
    func lingering() {
        // Given a refused request with input behind it
        var state = ConnectionState()
        _ = state.admit(isFinal: true, leavesInput: true)
        state.finishTurn(closes: true)

        // When everything is sent, Then input is still read, to be discarded
        #expect(state.end() == .linger)
        #expect(state.wantsInput(isStalled: false))
        state.endInput()
        #expect(!state.wantsInput(isStalled: false))
        #expect(state.end() == .close)
    }

    @Test("One that ends without an answer admits nothing, and lingers")
    func unanswered() {
        // Given an answered request
        var state = ConnectionState()
        _ = state.admit(isFinal: false)
        state.finishTurn(closes: false)
        // When the next one is not handled
        state.endUnanswered()
        // Then
        #expect(state.isClosing && !state.mayAdmit && state.pending == 0)
        #expect(!state.wantsInput(isStalled: false))
        #expect(state.end() == .linger)
    }

    @Test("A stalled connection and one without input are not read")
    func reading() {
        var state = ConnectionState()
        #expect(state.wantsInput(isStalled: false))
        #expect(!state.wantsInput(isStalled: true))
        state.endInput()
        #expect(!state.wantsInput(isStalled: false))
    }
}
