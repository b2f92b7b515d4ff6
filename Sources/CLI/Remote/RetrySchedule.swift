/// How long a command that transfers much data waits before it repeats a failed request.
struct RetrySchedule: Hashable, Sendable {
    /// The wait before each further attempt.
    var delays: [Duration]

    /// About eight seconds in all, enough for a server that is restarted.
    static let standard = RetrySchedule(delays: [250, 500, 1_000, 2_000, 4_000].map { .milliseconds($0) })
    /// One attempt.
    static let none = RetrySchedule(delays: [])
}
