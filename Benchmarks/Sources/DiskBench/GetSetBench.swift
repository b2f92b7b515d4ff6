import FreshetCache

/// Reads and writes one after the other, each awaited, compared with the same in Python.
struct GetSetBench {
    let directory: String
    let peerGet: Double
    let peerSet: Double
    private let count = 20_000

    func run() async throws {
        let cache = try await DiskCache.open(directory + "/get-set")
        let keys = Sample.keys(count)
        let order = Sample.order(count)
        let clock = ContinuousClock()
        var start = clock.now
        for index in order { try await cache.setValue(Sample.value, forKey: keys[index], lifetime: .unlimited) }
        DiskBench.line("disk-set-diskcache", ours: (clock.now - start) / .microseconds(1) / Double(count), peer: peerSet)
        start = clock.now
        for index in order { try cache.stageValue(Sample.value, forKey: keys[index], lifetime: .unlimited) }
        try await cache.flush()
        DiskBench.line("disk-set-staged-diskcache", ours: (clock.now - start) / .microseconds(1) / Double(count), peer: peerSet)
        // In turns, so that both meet the same machine.
        var awaited: [Double] = []
        var blocking: [Double] = []
        for _ in 0..<9 {
            start = clock.now
            for index in order { guard try await cache.value(forKey: keys[index]) != nil else { fatalError("a miss") } }
            awaited.append((clock.now - start) / .microseconds(1) / Double(count))
            blocking.append(
                try DiskBench.time(count) {
                    for index in order { guard try cache.blockingValue(forKey: keys[index]) != nil else { fatalError("a miss") } }
                })
        }
        DiskBench.line("disk-get-awaited-diskcache", ours: DiskBench.median(awaited), peer: peerGet)
        DiskBench.line("disk-get-diskcache", ours: DiskBench.median(blocking), peer: peerGet)
        DiskBench.line("disk-get-awaited-blocking", ours: DiskBench.median(awaited), peer: DiskBench.median(blocking))
        await cache.close()
    }
}
