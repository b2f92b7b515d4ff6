/// The meaning of a figure, in words. A figure is called `<what>` or `<what>-vs-<peer>`; the unit of some of the
/// cache's follows the peer.
public struct Meaning: Hashable, Sendable {
    /// The comparison that the figure belongs to, as passed to `scripts/bench`.
    public var comparison: String
    /// The measured quantity.
    public var title: String
    /// The figure's unit; empty for a count.
    public var unit: String
    /// The peer's name; empty if there is none.
    public var peer = ""
    /// The project's aim for the ratio, or without a peer for the figure itself; empty if there is none.
    public var aim = ""

    /// Finds a figure's meaning. A figure that is not in the list belongs to `cache`, under its own name.
    public init(of name: String) {
        var what = name[...]
        var rival: Substring = ""
        if let found = name.firstRange(of: "-vs-") {
            what = name[..<found.lowerBound]
            rival = name[found.upperBound...]
        }
        for entry in Self.entries {
            guard let count = Self.match(what, entry.pattern) else { continue }
            comparison = entry.comparison
            title = entry.title.replacing("#", with: count.map(Digits.count) ?? "")
            unit = entry.unit
            peer = rival.isEmpty ? entry.peer : Self.peers[String(rival)] ?? String(rival)
            aim = entry.aims[String(rival)] ?? ""
            return
        }
        comparison = "cache"
        title = String(what)
        unit = ""
        peer = String(rival)
    }

    /// The comparisons in the order in which they are shown, with their headings.
    public static let comparisons: [(name: String, heading: String)] = [
        ("fanout", "One change to many, by long poll"), ("sse", "One change to many, by server-sent events"),
        ("tokens", "One change to many, each with its own key or token; the peer takes the same requests and checks nothing"),
        ("waiters", "Waiting clients"), ("writes", "Durable writes, 64 connections"), ("reads", "Reads, 64 connections"),
        ("latency", "From device to device"), ("catch-up", "A new device"), ("growth", "Growth"), ("cold-start", "Start"),
        ("overload", "Overload: 1,000 writers and 9,000 waiters at once; a storm is of writers with 100 writes in each request"),
        ("kit", "Servers of tests"), ("cache", "The cache"), ("postgresql", "Over PostgreSQL, 64 connections"),
    ]

    /// `nil` if the text does not match the pattern, whose `#` stands for a number; otherwise that number, if there is
    /// one.
    private static func match(_ text: Substring, _ pattern: String) -> Int?? {
        let parts = pattern.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return text == pattern ? .some(nil) : nil }
        guard text.hasPrefix(parts[0]), text.hasSuffix(parts[1]) else { return nil }
        guard let number = Int(text.dropFirst(parts[0].count).dropLast(parts[1].count)) else { return nil }
        return .some(number)
    }

    private static let peers = [
        "floor": "the floor in C", "nchan": "nginx with nchan", "redis": "Redis", "redis-pipelined": "Redis, 16 in a pipeline",
        "etcd": "etcd", "open": "itself, without rights",
        "hummingbird": "Hummingbird, a constant", "nginx": "nginx, a file", "quiet": "itself, without the writers",
        "mutex-dictionary-ns": "a dictionary behind a mutex", "nscache-ns": "NSCache", "lrucache-ns": "LRUCache",
        "pgbench": "`pgbench -N`", "pgbench-select": "`pgbench -S`", "postgresql-floor": "rows in groups of 64 under a lock, in C",
        "one-server": "one server",
        "one-million-per-second": "one thread", "s3fifo": "S3-FIFO of libcachesim", "lru": "LRU of libcachesim",
    ]

    struct Entry {
        var comparison: String
        var pattern: String
        var title: String
        var unit: String
        /// The peer, if the figure's name does not contain it.
        var peer: String
        var aims: [String: String]

        init(_ comparison: String, _ pattern: String, _ title: String, _ unit: String, peer: String = "", aims: [String: String] = [:]) {
            self.comparison = comparison
            self.pattern = pattern
            self.title = title
            self.unit = unit
            self.peer = peer
            self.aims = aims
        }
    }

    private static let entries =
        [
            Entry(
                "fanout", "fanout-#-cpu-us", "# waiting: the server's processor time for a delivery", "µs",
                aims: ["floor": "≤ 1.15", "nchan": "≤ 0.9"]),
            Entry("fanout", "fanout-#-p99-ms", "# waiting: 99 of 100 have it", "ms", aims: ["nchan": "≤ 1"]),
            Entry("fanout", "fanout-#-last-ms", "# waiting: the last one has it", "ms", aims: ["nchan": "≤ 1"]),
            Entry("fanout", "fanout-#-memory-kib", "# waiting: memory for each", "KiB"),
            Entry("sse", "sse-#-cpu-us", "# waiting: the server's processor time for a delivery", "µs", aims: ["redis": "≤ 1.1"]),
            Entry("sse", "sse-#-p99-ms", "# waiting: 99 of 100 have it", "ms"),
            Entry("sse", "sse-#-last-ms", "# waiting: the last one has it", "ms"),
            Entry("sse", "sse-#-memory-kib", "# waiting: memory for each", "KiB"),
            Entry(
                "tokens", "tokens-#-keys-cpu-us",
                "# waiting, each with its own key: the server's processor time for a delivery and its poll", "µs",
                aims: ["open": "≤ 1.05"]),
            Entry(
                "tokens", "tokens-#-classes-cpu-us", "# waiting, keys of 100 different rights: processor time for a delivery and its poll",
                "µs"),
            Entry(
                "tokens", "tokens-#-jwt-cpu-us",
                "# waiting, each with its own token of 700 bytes: processor time for a delivery and its poll",
                "µs", aims: ["open": "≤ 1.05"]),
            Entry("waiters", "waiters-#-memory-kib", "# waiting: memory for each", "KiB", aims: ["": "≤ 1.5"]),
            Entry("waiters", "waiters-#-missed", "# waiting: changes that a client missed, or received out of order", "", aims: ["": "0"]),
            Entry(
                "writes", "writes-puts-per-s", "`PUT`, each answered after its fsync", "/s",
                aims: ["etcd": "≥ 1.5", "redis": "≥ 0.6, aiming at 1"]),
            Entry("writes", "writes-batch16-per-s", "writes in `POST /writes` of 16 each", "/s", aims: ["redis": "≥ 2"]),
            Entry("reads", "reads-per-s", "`GET` of 130 bytes", "/s", aims: ["hummingbird": "≥ 1", "nginx": "aiming at 1"]),
            Entry("latency", "latency-p50-ms", "`set` on A to observation on B, half of them", "ms", aims: ["redis": "ours ≤ 0.6"]),
            Entry("latency", "latency-p99-ms", "`set` on A to observation on B, 99 of 100", "ms", aims: ["redis": "ours ≤ 2"]),
            Entry("catch-up", "catch-up-#-records-per-s", "# records of 100 bytes onto a new device's disk", "/s", aims: ["": "≥ 100,000"]),
            Entry(
                "catch-up", "catch-up-#-server-memory-mib", "the server's peak memory meanwhile, minus its memory before", "MiB",
                aims: ["": "≤ 64"]),
            Entry(
                "catch-up", "catch-up-batch-#-ms", "# changes of one batch, from their answer to the observation", "ms", aims: ["": "≤ 10"]),
            Entry("growth", "growth-records-#-writes-per-s", "# records: `PUT`s", "/s"),
            Entry("growth", "growth-records-#-feed-ms", "# records: a `PUT` to the waiting poll's answer", "ms"),
            Entry("growth", "growth-records-#-memory-mib", "# records: the server's memory", "MiB"),
            Entry("growth", "growth-waiters-#-writes-per-s", "# waiting: `PUT`s that do not concern them", "/s"),
            Entry("growth", "growth-waiters-#-feed-ms", "# waiting: a `PUT` to a waiting poll's answer", "ms"),
            Entry("growth", "growth-waiters-#-memory-mib", "# waiting: the server's memory", "MiB"),
            Entry("cold-start", "cold-start-#-ms", "# records: ready after a stop", "ms", aims: ["": "≤ 50"]),
            Entry("cold-start", "cold-start-killed-#-ms", "# records: ready after `SIGKILL`", "ms"),
            Entry("kit", "kit-first-answer-ms", "a process's first server: until its first answer", "ms"),
            Entry("kit", "kit-ready-p50-ms", "a server: until it is started, half of them", "ms"),
            Entry("kit", "kit-answer-p50-ms", "a server: until its first answer, half of them", "ms"),
            Entry("kit", "kit-answer-worst-ms", "a server: until its first answer, the slowest", "ms"),
            Entry("kit", "kit-#-at-once-ms", "# kits on one server, each with a lost acknowledgement: all drained", "ms"),
        ] + storm("overload", "", "`PUT`s", "`PUT`s") + storm("overload-storm", "storm: ", "writes", "requests") + ofCaches + ofPostgreSQL

    /// The figures of one kind of overload: writes that were accepted, and requests that were refused.
    private static func storm(_ name: String, _ prefix: String, _ writes: String, _ requests: String) -> [Entry] {
        [
            Entry("overload", "\(name)-p99-ms", "\(prefix)a change's way to waiting clients, 99 of 100", "ms", aims: ["quiet": "≤ 10"]),
            Entry("overload", "\(name)-writes-per-s", "\(prefix)\(writes) that were taken", "/s"),
            Entry("overload", "\(name)-refused", "\(prefix)\(requests) that were answered `503` with `Retry-After`", ""),
            Entry("overload", "\(name)-refused-without-retry-after", "\(prefix)`503` without `Retry-After`", "", aims: ["": "0"]),
            Entry("overload", "\(name)-refused-changes", "\(prefix)changes that were refused, and made again", ""),
            Entry("overload", "\(name)-least-answers", "\(prefix)answers of the writer that got the fewest", "", aims: ["": "> 0"]),
            Entry("overload", "\(name)-longest-answer-ms", "\(prefix)the longest that a writer waited for its answer", "ms"),
            Entry("overload", "\(name)-longest-change-ms", "\(prefix)the longest that a change waited for its answer", "ms"),
            Entry("overload", "\(name)-memory-mib", "\(prefix)the server's memory, at most", "MiB"),
        ]
    }
}
