import FreshetWire
import Testing

@testable import FreshetTrust

@Suite("Tickets") struct TicketTableTests {
    private var table = TicketTable()
    private var random = SystemRandomNumberGenerator()
    private let shop: Namespace
    private let other: Namespace

    init() throws {
        shop = try Namespace("shop")
        other = try Namespace("other")
    }

    private mutating func issue(_ principal: String = "id|u7", at now: Int64 = 0) throws -> [UInt8] {
        let ticket = Ticket(using: &random)
        try table.issue(ticket, for: Secret(Array("token of \(principal)".utf8)), of: Principal(text: principal), in: shop, at: now)
        return ticket.text.exposed
    }

    private func text(_ credential: Secret?) -> String? { credential.map { String(decoding: $0.exposed, as: UTF8.self) } }

    @Test("A ticket has 256 random bits, and shows none of them")
    mutating func form() {
        let tickets = (0..<100).map { _ in Ticket(using: &random) }
        #expect(Set(tickets.map(\.text.exposed)).count == 100)
        #expect(tickets.allSatisfy { $0.text.exposed.count == 46 && $0.text.exposed.starts(with: "ft_".utf8) })
        #expect("\(tickets[0])".contains("•••"))
    }

    @Test("A ticket is good once, for its holder's credential")
    mutating func once() throws {
        let ticket = try issue()
        #expect(text(table.redeem(ticket, in: shop, at: 29_999)) == "token of id|u7")
        #expect(table.redeem(ticket, in: shop, at: 29_999) == nil)
        #expect(table.count == 0)
    }

    @Test("A ticket is good for 30 seconds and in its namespace alone, and a wrong use ends it", arguments: [true, false])
    mutating func bounds(isLate: Bool) throws {
        let ticket = try issue()
        #expect(table.redeem(ticket, in: isLate ? shop : other, at: isLate ? 30_000 : 0) == nil)
        #expect(table.redeem(ticket, in: shop, at: 0) == nil)
    }

    @Test("Nothing but the whole ticket is good")
    mutating func forgeries() throws {
        let ticket = try issue()
        for forged in [[], Array(ticket.dropLast()), ticket + [0x30], Array("ft_".utf8), Array(ticket.reversed())] {
            #expect(table.redeem(forged, in: shop, at: 0) == nil)
        }
        #expect(table.redeem(ticket, in: shop, at: 0) != nil)
    }

    @Test("A principal has at most 32 unused tickets, and gets others as soon as some are used or over")
    mutating func principalBound() throws {
        let tickets = try (0..<32).map { try issue(at: Int64($0)) }
        #expect(throws: TicketRefusal.tooManyOfPrincipal) { try issue(at: 100) }
        _ = try issue("id|u8", at: 100)
        _ = table.redeem(tickets[7], in: shop, at: 100)
        _ = try issue(at: 100)
        #expect(throws: TicketRefusal.tooManyOfPrincipal) { try issue(at: 29_999) }
        _ = try issue(at: 30_000)
        #expect(table.count == 33)
    }

    @Test("The table is bounded, and empties itself")
    mutating func bound() throws {
        for number in 0..<TicketTable.maximumCount { _ = try issue("id|\(number)") }
        #expect(throws: TicketRefusal.tooMany) { try issue(at: 29_999) }
        _ = try issue(at: 30_000)
        #expect(table.count == 1)
    }

    @Test("One that buys and uses any number of tickets leaves room for those of others, and takes no memory")
    mutating func usedTickets() throws {
        for _ in 0..<5 * TicketTable.maximumCount { _ = table.redeem(try issue("id|thief"), in: shop, at: 0) }
        let ticket = try issue()
        #expect(table.redeem(ticket, in: shop, at: 0) != nil)
        #expect(table.orderedCount <= 2 * TicketTable.maximumCount + 1)
    }
}
