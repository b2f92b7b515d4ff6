import FreshetCache

/// Opening a directory that holds many entries: the time until the first value is read.
struct OpenBench {
    let directory: String

    func run() async throws {
        var figures: [Double] = []
        for count in [10_000, 100_000, 1_000_000] {
            let path = "\(directory)/open-\(count)"
            var configuration = DiskCache.Configuration()
            configuration.byteLimit = 1 << 40
            do {
                let cache = try await DiskCache.open(path, configuration)
                try await Sample.fill(cache, (0..<count).lazy.map { "user/\($0)/profile" })
                await cache.close()
            }
            var times: [Double] = []
            for round in 0..<9 {
                let clock = ContinuousClock()
                let start = clock.now
                let cache = try await DiskCache.open(path, configuration)
                guard try await cache.value(forKey: "user/\(round)/profile") != nil else { fatalError("a miss") }
                times.append((clock.now - start) / .milliseconds(1))
                guard try await cache.statistics().entries == count else { fatalError("entries are missing") }
                await cache.close()
            }
            figures.append(DiskBench.median(times))
        }
        // In milliseconds, compared with the smallest cache: a ratio of 1 is no growth.
        DiskBench.line("disk-open-100000-ms", ours: figures[1], peer: figures[0])
        DiskBench.line("disk-open-1000000-ms", ours: figures[2], peer: figures[0])
    }
}
