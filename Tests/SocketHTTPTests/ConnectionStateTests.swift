import Testing

@testable import FreshetSocketHTTP

@Suite("Connection state")
struct ConnectionStateTests {
    private static func slot(_ number: UInt32, _ traits: RequestSlot.Traits = []) -> RequestSlot {
        RequestSlot(number: number, traits: traits)
    }

    @Test("Safe requests are handled concurrently up to the limit")
    func safe() {
        // Given a connection with two safe requests pending
        var state = ConnectionState()
        #expect(state.admit(isSafe: true, isFinal: false) == 0)
        #expect(state.admit(isSafe: true, isFinal: false) == 1)

        // Then a third is admitted only within the limit, and one with effects never
        #expect(state.mayAdmit(isSafe: true, limit: 3))
        #expect(!state.mayAdmit(isSafe: true, limit: 2))
        #expect(!state.mayAdmit(isSafe: false, limit: 3))
    }

    @Test("A request with effects runs alone")
    func exclusive() {
        // Given one that is pending
        var state = ConnectionState()
        _ = state.admit(isSafe: false, isFinal: false)
        #expect(!state.mayAdmit(isSafe: true, limit: 16))

        // When it is answered, Then the next is admitted
        state.finishTurn(closes: false)
        #expect(state.mayAdmit(isSafe: false, limit: 16))
        #expect(state.turn == 1)
    }

    @Test("After the last request nothing is admitted and nothing read")
    func final() {
        var state = ConnectionState()
        _ = state.admit(isSafe: true, isFinal: true)
        #expect(!state.mayAdmit(isSafe: true, limit: 16))
        #expect(!state.wantsInput(isStalled: false))
    }

    @Test("While draining, the last answer due closes the connection, and none before it")
    func draining() {
        // Given two pending requests
        var state = ConnectionState()
        let first = state.admit(isSafe: true, isFinal: false)
        let second = state.admit(isSafe: true, isFinal: false)

        // When the server drains, Then only the second answer closes
        #expect(!state.closes(after: ConnectionStateTests.slot(first), isDraining: true))
        state.finishTurn(closes: false)
        #expect(state.closes(after: ConnectionStateTests.slot(second), isDraining: true))
        #expect(!state.closes(after: ConnectionStateTests.slot(second), isDraining: false))
    }

    @Test("A connection that its client ends is closed at once")
    func clientCloses() {
        var state = ConnectionState()
        let number = state.admit(isSafe: true, isFinal: true)
        #expect(state.closes(after: ConnectionStateTests.slot(number, .closes), isDraining: false))
        state.finishTurn(closes: true)
        #expect(state.end() == .close)
    }

    @Test("One that the server ends lingers, until the peer has ended too")
    func lingering() {
        // Given a refused request with input behind it
        var state = ConnectionState()
        _ = state.admit(isSafe: true, isFinal: true, leavesInput: true)
        state.finishTurn(closes: true)

        // When everything is sent, Then input is still read, to be discarded
        #expect(state.end() == .linger)
        #expect(state.wantsInput(isStalled: false))
        state.endInput()
        #expect(!state.wantsInput(isStalled: false))
        #expect(state.end() == .close)
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
