extension Meaning {
    /// The figures of `scripts/bench-postgresql`.
    static let ofPostgreSQL = [
        Entry("postgresql", "postgresql-puts-per-s", "`PUT` into one namespace", "/s", aims: ["pgbench": "≥ 2"]),
        Entry("postgresql", "postgresql-puts-8-namespaces-per-s", "`PUT` into eight namespaces", "/s"),
        Entry(
            "postgresql", "postgresql-batch16-per-s", "writes in batches of 16 into one namespace", "/s",
            aims: ["postgresql-floor": "≥ 0.6"]),
        Entry("postgresql", "postgresql-batch16-8-namespaces-per-s", "writes in batches of 16 into eight namespaces", "/s"),
        Entry(
            "postgresql", "postgresql-batch16-two-servers-per-s", "writes in batches of 16 by two servers into one namespace", "/s",
            aims: ["one-server": "≥ 0.9"]),
        Entry("postgresql", "postgresql-gets-per-s", "`GET` of 100 bytes", "/s"),
        Entry(
            "postgresql", "postgresql-feed-same-p50-ms", "a `PUT` to the poll at the same server, half of them", "ms",
            aims: ["": "≤ 1.5"]),
        Entry(
            "postgresql", "postgresql-feed-same-p99-ms", "a `PUT` to the poll at the same server, 99 of 100", "ms",
            aims: ["": "≤ 5"]),
        Entry(
            "postgresql", "postgresql-feed-other-p50-ms", "a `PUT` to the poll at another server, half of them", "ms",
            aims: ["": "≤ 2.5"]),
        Entry(
            "postgresql", "postgresql-feed-other-p99-ms", "a `PUT` to the poll at another server, 99 of 100", "ms",
            aims: ["": "≤ 10"]),
        Entry("postgresql", "postgresql-namespaces-#-writes-per-s", "`PUT`s, each into another of # namespaces", "/s"),
        Entry(
            "postgresql", "postgresql-namespaces-#-batch16-per-s", "writes in batches of 16, each batch into another of # namespaces", "/s",
            aims: ["": "≥ 20,000"]),
        Entry("postgresql", "postgresql-namespaces-#-memory-mib", "the server's memory after writes into # namespaces", "MiB"),
    ]
}
