/// The crowds of one loop and their members. Only the loop's thread uses it.
struct CrowdTable {
    /// Identifies a crowd; numbers are not used twice.
    struct Number: Hashable, Sendable {
        let slot: Int32
        let generation: UInt32
    }

    /// A connection's place in a crowd. A connection has at most one: its further requests are handled separately.
    struct Seat: Hashable {
        static let none = Seat(slot: -1, place: -1)

        let slot: Int32
        let place: Int32
    }

    /// A request, named by its connection's token. After the connection closes, the token names no other one, so no
    /// owner is needed.
    struct Member {
        let token: UInt64
        let ticket: Ticket
    }

    /// The listener that decides about a waiting crowd, and its key.
    struct Watch {
        let listener: any CrowdListener
        let key: UInt64
    }

    /// Whether others may join.
    enum Openness {
        case open
        /// The crowd already waits: its listener decides, for as long as the crowd's first tick lasts.
        case asking(Watch)
        case closed
    }

    private struct Entry {
        var generation: UInt32
        var members: [Member?] = []
        /// The handler, until the crowd has been handed over to it; up to then every matching request may join.
        var handler: (any RepeatHandler)?
        var watch: Watch?
        /// The tick in which the crowd began.
        var start: UInt32 = 0
        /// Members that hung up before the crowd had a listener.
        var lost: [Connection] = []
    }

    private var entries: [Entry] = []
    private var free: [Int32] = []
    /// Crowds that are to be handed over.
    private var gathering: [Number] = []

    /// Begins a crowd, to be handed over to `handler`.
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

    /// Adds a request to a crowd. Its connection must not have a seat.
    mutating func admit(_ member: Member, to crowd: Number) -> Seat {
        let place = entries[Int(crowd.slot)].members.count
        entries[Int(crowd.slot)].members.append(member)
        return Seat(slot: crowd.slot, place: Int32(place))
    }

    /// Ends the gathering of one crowd, and returns the crowd with its handler.
    mutating func handOver() -> (Number, count: Int, any RepeatHandler)? {
        guard let crowd = gathering.popLast(), let handler = entries[Int(crowd.slot)].handler.take() else { return nil }
        return (crowd, entries[Int(crowd.slot)].members.count, handler)
    }

    /// Removes the crowd and returns its members.
    mutating func takeAll(of crowd: Number) -> [Member?] {
        guard isPresent(crowd) else { return [] }
        let members = entries[Int(crowd.slot)].members
        entries[Int(crowd.slot)] = Entry(generation: crowd.generation &+ 1)
        free.append(crowd.slot)
        return members
    }

    /// Removes and returns one member; `nil` if it is no longer there.
    mutating func take(_ seat: Seat, of crowd: Number) -> Member? {
        guard seat.slot == crowd.slot, isPresent(crowd) else { return nil }
        return entries[Int(crowd.slot)].members[Int(seat.place)].take()
    }

    /// Sets the crowd's listener; returns the members that hung up earlier.
    mutating func begin(_ watch: Watch, of crowd: Number) -> [Connection] {
        guard isPresent(crowd) else { return [] }
        entries[Int(crowd.slot)].watch = watch
        defer { entries[Int(crowd.slot)].lost = [] }
        return entries[Int(crowd.slot)].lost
    }

    /// Records a member that hung up; returns the crowd if it has a listener to notify.
    mutating func note(_ connection: Connection) -> Number? {
        let slot = connection.seat.slot
        guard entries[Int(slot)].watch == nil else { return Number(slot: slot, generation: entries[Int(slot)].generation) }
        entries[Int(slot)].lost.append(connection)
        return nil
    }

    /// The crowd's listener, as long as the crowd waits.
    func watch(of crowd: Number) -> Watch? { isPresent(crowd) ? entries[Int(crowd.slot)].watch : nil }

    func isPresent(_ crowd: Number) -> Bool { entries[Int(crowd.slot)].generation == crowd.generation }
}
