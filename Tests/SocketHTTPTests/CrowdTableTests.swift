import Testing

@testable import SocketHTTP

@Suite("The table of crowds")
struct CrowdTableTests {
    private final class Handler: RepeatHandler {
        func handle(_ crowd: Crowd) {}
    }

    private final class Listener: CrowdListener {
        func admits(to key: UInt64) -> Bool { true }
        func hungUp(_ member: Crowd.Member, of key: UInt64) {}
    }

    /// The key of a crowd whose listener decides; 0 for an open crowd, `nil` for a closed one.
    private static func key(_ openness: CrowdTable.Openness) -> UInt64? {
        switch openness {
        case .open: 0
        case .asking(let watch): watch.key
        case .closed: nil
        }
    }

    private static func member(_ token: UInt64) -> CrowdTable.Member {
        CrowdTable.Member(token: token, ticket: Ticket(number: 0, traits: []))
    }

    private static func tokens(_ members: [CrowdTable.Member?]) -> [UInt64?] { members.map { $0?.token } }

    @Test("A request that arrives while a crowd gathers joins it at any tick; the crowd is handed over once")
    func gathering() {
        // Given
        var table = CrowdTable()
        let handler = Handler()
        let crowd = table.begin(for: handler, at: 1)
        let seats = (1...3).map { table.admit(Self.member($0), to: crowd) }
        // Then
        #expect(Self.key(table.openness(of: crowd, at: 9)) == 0)
        #expect(Set(seats).count == 3)
        let handed = table.handOver()
        #expect(handed?.0 == crowd && handed?.count == 3 && handed?.2 === handler)
        #expect(table.handOver() == nil)
        #expect(Self.tokens(table.takeAll(of: crowd)) == [1, 2, 3])
        #expect(table.takeAll(of: crowd).isEmpty)
    }

    @Test("The listener of a waiting crowd decides about further requests, for as long as the tick lasts")
    func joining() {
        // Given
        var table = CrowdTable()
        let crowd = table.begin(for: Handler(), at: 5)
        _ = table.admit(Self.member(1), to: crowd)
        _ = table.handOver()
        // When no listener has been set, Then no request may join
        #expect(Self.key(table.openness(of: crowd, at: 5)) == nil)
        // When it waits, Then its listener decides, by its key, and not for longer than the tick
        _ = table.begin(CrowdTable.Watch(listener: Listener(), key: 7), of: crowd)
        #expect(Self.key(table.openness(of: crowd, at: 5)) == 7)
        #expect(Self.key(table.openness(of: crowd, at: 6)) == nil)
        // When it is answered, Then no listener is asked, not even about the next crowd in its slot
        _ = table.takeAll(of: crowd)
        let next = table.begin(for: Handler(), at: 5)
        #expect(next.slot == crowd.slot)
        #expect(Self.key(table.openness(of: crowd, at: 5)) == nil && Self.key(table.openness(of: next, at: 5)) == 0)
        #expect(table.watch(of: crowd) == nil && table.watch(of: next) == nil)
    }

    @Test("A member that was taken out is not among the others, and is returned once")
    func leaving() {
        // Given
        var table = CrowdTable()
        let crowd = table.begin(for: Handler(), at: 1)
        let seats = (1...3).map { table.admit(Self.member($0), to: crowd) }
        // Then
        #expect(table.take(seats[1], of: crowd)?.token == 2)
        #expect(table.take(seats[1], of: crowd) == nil)
        #expect(Self.tokens(table.takeAll(of: crowd)) == [1, nil, 3])
        #expect(table.take(seats[0], of: crowd) == nil)
    }
}
