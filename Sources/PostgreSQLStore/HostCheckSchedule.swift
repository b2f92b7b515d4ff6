#if PostgreSQL
/// Decides when a host of a store is asked whether it has taken over: regularly, and after each new connection, which may
/// lead to a former one. A pure value; times are monotonic milliseconds.
struct HostCheckSchedule: Sendable {
    /// From the end of one round to the beginning of the next.
    private let interval: Int64
    private var due: Int64
    /// The earliest beginning of the next round: a storm of reconnecting must not become one of rounds.
    private var earliest: Int64

    /// The least time from the end of one round to the beginning of the next.
    static let pause: Int64 = 500

    /// - Parameter interval: 1 or more.
    init(interval: Int64, now: Int64) {
        self.interval = min(max(interval, 1), .max / 4)
        (due, earliest) = (now + self.interval, now)
    }

    /// A connection was opened.
    mutating func opened(now: Int64) { due = min(due, max(now, earliest)) }

    /// How long until the next round; 0 if it is due.
    func remaining(now: Int64) -> Int64 { max(due - now, 0) }

    /// A round begins. A connection that is opened meanwhile causes another one.
    mutating func began() { due = .max / 2 }

    /// The round has ended.
    mutating func ended(now: Int64) {
        let isWanted = due < .max / 2
        earliest = now + min(Self.pause, interval)
        due = isWanted ? earliest : now + interval
    }
}
#endif
