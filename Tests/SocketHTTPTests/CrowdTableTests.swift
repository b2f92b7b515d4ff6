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

    /// The key of a crowd whose listener is to be asked; 0 of one that is open, `nil` of one that is closed.
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

    @Test("Who comes while a crowd gathers joins it, whenever; it is handed over once")
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

    @Test("A crowd that waits is asked about others, for as long as its tick lasts")
    func joining() {
        // Given
        var table = CrowdTable()
        let crowd = table.begin(for: Handler(), at: 5)
        _ = table.admit(Self.member(1), to: crowd)
        _ = table.handOver()
        // When nobody has said that it waits, Then nobody joins
        #expect(Self.key(table.openness(of: crowd, at: 5)) == nil)
        // When it waits, Then its listener is to say, by its key, and not for longer than the tick
        _ = table.begin(CrowdTable.Watch(listener: Listener(), key: 7), of: crowd)
        #expect(Self.key(table.openness(of: crowd, at: 5)) == 7)
        #expect(Self.key(table.openness(of: crowd, at: 6)) == nil)
        // When it is answered, Then nobody is asked, not even of the next one in its place
        _ = table.takeAll(of: crowd)
        let next = table.begin(for: Handler(), at: 5)
        #expect(next.slot == crowd.slot)
        #expect(Self.key(table.openness(of: crowd, at: 5)) == nil && Self.key(table.openness(of: next, at: 5)) == 0)
        #expect(table.watch(of: crowd) == nil && table.watch(of: next) == nil)
    }

    @Test("One that is taken out is not among the rest, and comes out once")
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
