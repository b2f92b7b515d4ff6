import FreshetCache

/// A hit on disk without decoding, compared with a point read by a text key, both with 100,000 entries of 100 bytes, SQLite's default page
/// cache and a write-ahead log. In turns, so that both meet the same machine.
struct HitBench {
    let directory: String
    private let count = 100_000

    func run() async throws {
        let keys = Sample.keys(count)
        let order = Sample.order(count)
        let cache = try await DiskCache.open(directory + "/hit")
        try await Sample.fill(cache, keys)
        let tables = try [
            PointRead(path: directory + "/rowid.sqlite", isRowless: false), PointRead(path: directory + "/rowless.sqlite", isRowless: true),
        ]
        for table in tables { try table.fill(keys, Sample.value) }
        var ours: [Double] = []
        var peers: [[Double]] = [[], []]
        var awaited: [Double] = []
        for _ in 0..<9 {
            ours.append(
                try DiskBench.time(count) {
                    for index in order {
                        guard try cache.blockingValue(forKey: keys[index])?.bytes.count == 100 else { fatalError("a miss") }
                    }
                })
            for (index, table) in tables.enumerated() {
                peers[index].append(
                    try DiskBench.time(count) {
                        for index in order { guard try table.read(keys[index])?.count == 100 else { fatalError("a miss") } }
                    })
            }
            let clock = ContinuousClock()
            let start = clock.now
            for index in order.prefix(10_000) { guard try await cache.value(forKey: keys[index]) != nil else { fatalError("a miss") } }
            awaited.append((clock.now - start) / .microseconds(1) / 10_000)
        }
        // The quicker of the two ways to lay out such a table is the one to compare with.
        let peer = peers.map(DiskBench.median)
        DiskBench.line("disk-hit", ours: DiskBench.median(ours), peer: min(peer[0], peer[1]))
        DiskBench.line("disk-hit-awaited", ours: DiskBench.median(awaited), peer: min(peer[0], peer[1]))
        await cache.close()
    }
}
