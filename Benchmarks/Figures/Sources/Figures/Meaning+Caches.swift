extension Meaning {
    /// The figures of `FreshetCache` that `CacheBench` and `DiskBench` measure.
    static let ofCaches: [Entry] =
        [
            Entry("cache", "cache-hit", "in memory: a read", "ns"),
            Entry("cache", "cache-hit-two-threads", "in memory: reads of two threads", "10⁶/s"),
            Entry("cache", "cache-set-with-eviction", "in memory: a write that evicts another entry", "ns"),
            Entry(
                "cache", "cache-bytes-per-entry-#", "in memory, # entries: memory of an entry beyond key and value", "bytes",
                peer: "the limit"),
            Entry("cache", "disk-hit", "on disk: a read", "µs", peer: "SQLite's C interface"),
            Entry("cache", "disk-hit-awaited", "on disk: a read, awaited", "µs", peer: "SQLite's C interface"),
            Entry("cache", "disk-open-#-ms", "on disk, # entries: opened and one read", "ms", peer: "itself, 10,000 entries"),
            Entry("cache", "disk-get-diskcache", "on disk: a read", "µs", peer: "python-diskcache"),
            Entry("cache", "disk-get-awaited-diskcache", "on disk: a read, awaited", "µs", peer: "python-diskcache"),
            Entry(
                "cache", "disk-get-awaited-blocking", "on disk: a read, awaited", "µs", peer: "itself, where the caller's thread waits",
                aims: ["": "≤ 2"]),
            Entry("cache", "disk-set-diskcache", "on disk: a write, awaited", "µs", peer: "python-diskcache", aims: ["": "≤ 1.2"]),
            Entry("cache", "disk-set-staged-diskcache", "on disk: a write, all awaited at the end", "µs", peer: "python-diskcache"),
        ]
        + ["loops", "scans", "shifting", "zipf"].map { trace in
            Entry("cache", "cache-hit-ratio-\(trace)-#", "in memory, # entries: reads that hit, `\(trace)`", "%")
        }
}
