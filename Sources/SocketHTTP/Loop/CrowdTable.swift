/// The crowds of one loop and who is in them: what only the loop's thread touches.
struct CrowdTable {
    /// Names a crowd; no other gets the same number.
    struct Number: Hashable, Sendable {
        let slot: Int32
        let generation: UInt32
    }

    /// A connection's place in a crowd. It has one at most: what it asks beside that is handled by itself.
    struct Seat: Hashable {
        static let none = Seat(slot: -1, place: -1)

        let slot: Int32
        let place: Int32
    }

    /// A request by its connection's token, which names no other if that closes, and so needs no owner.
    struct Member {
        let token: UInt64
        let ticket: Ticket
    }

    /// Who decides about a crowd that waits.
    struct Watch {
        let listener: any CrowdListener
        let key: UInt64
    }

    /// Whether others may join.
    enum Openness {
        case open
        /// It waits already: that is for its listener to say, for as long as its first tick lasts.
        case asking(Watch)
        case closed
    }

    private struct Entry {
        var generation: UInt32
        var members: [Member?] = []
        /// Who handles it, until it has been handed over: so long whoever comes may join.
        var handler: (any RepeatHandler)?
        var watch: Watch?
        /// The tick of its beginning.
        var start: UInt32 = 0
        /// Those that hung up before there was somebody to tell.
        var lost: [Connection] = []
    }

    private var entries: [Entry] = []
    private var free: [Int32] = []
    /// Those that are to be handed over.
    private var gathering: [Number] = []

    /// Has a crowd gather.
    mutating func begin(for handler: any RepeatHandler, at tick: UInt32) -> Number {
        let slot = free.popLast() ?? Int32(entries.count)
        if Int(slot) == entries.count { entries.append(Entry(generation: 0)) }
        entries[Int(slot)].handler = handler
        entries[Int(slot)].start = tick
        let number = Number(slot: slot, generation: entries[Int(slot)].generation)
        gathering.append(number)
        return number
    }

    /// Whether others may join a crowd.
    func openness(of crowd: Number, at tick: UInt32) -> Openness {
        guard isPresent(crowd) else { return .closed }
        if entries[Int(crowd.slot)].handler != nil { return .open }
        guard entries[Int(crowd.slot)].start == tick, let watch = entries[Int(crowd.slot)].watch else { return .closed }
        return .asking(watch)
    }

    /// Takes a request into a crowd. Its connection must not have a seat.
    mutating func admit(_ member: Member, to crowd: Number) -> Seat {
        let place = entries[Int(crowd.slot)].members.count
        entries[Int(crowd.slot)].members.append(member)
        return Seat(slot: crowd.slot, place: Int32(place))
    }

    /// Ends the gathering of one crowd, and gives it with who handles it.
    mutating func handOver() -> (Number, count: Int, any RepeatHandler)? {
        guard let crowd = gathering.popLast(), let handler = entries[Int(crowd.slot)].handler.take() else { return nil }
        return (crowd, entries[Int(crowd.slot)].members.count, handler)
    }

    /// Takes all members out, and the crowd with them.
    mutating func takeAll(of crowd: Number) -> [Member?] {
        guard isPresent(crowd) else { return [] }
        let members = entries[Int(crowd.slot)].members
        entries[Int(crowd.slot)] = Entry(generation: crowd.generation &+ 1)
        free.append(crowd.slot)
        return members
    }

    /// Takes one member out; `nil` if it is not there any more.
    mutating func take(_ seat: Seat, of crowd: Number) -> Member? {
        guard seat.slot == crowd.slot, isPresent(crowd) else { return nil }
        return entries[Int(crowd.slot)].members[Int(seat.place)].take()
    }

    /// Sets whom to tell; gives those that hung up before.
    mutating func begin(_ watch: Watch, of crowd: Number) -> [Connection] {
        guard isPresent(crowd) else { return [] }
        entries[Int(crowd.slot)].watch = watch
        defer { entries[Int(crowd.slot)].lost = [] }
        return entries[Int(crowd.slot)].lost
    }

    /// Takes note of a member that hung up; gives the crowd if there is somebody to tell.
    mutating func note(_ connection: Connection) -> Number? {
        let slot = connection.seat.slot
        guard entries[Int(slot)].watch == nil else { return Number(slot: slot, generation: entries[Int(slot)].generation) }
        entries[Int(slot)].lost.append(connection)
        return nil
    }

    /// Whom to tell, as long as the crowd waits.
    func watch(of crowd: Number) -> Watch? { isPresent(crowd) ? entries[Int(crowd.slot)].watch : nil }

    func isPresent(_ crowd: Number) -> Bool { entries[Int(crowd.slot)].generation == crowd.generation }
}
