/// Waits for a condition, which is checked at each event.
enum Events {
    private enum Ending {
        case fulfilled
        case late
        case sourceEnded
    }

    /// Returns whether the condition held within the limit.
    ///
    /// - Parameters:
    ///   - sources: each makes a sequence whose elements mean that the condition should be checked. The end of a
    ///     sequence is ignored.
    ///   - condition: may become true only through changes that precede an element.
    static func wait<Source: AsyncSequence & SendableMetatype>(
        for sources: [@Sendable () -> Source], _ limit: Duration, _ condition: @escaping @Sendable () async throws -> Bool
    ) async throws -> Bool {
        let (events, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        return try await withThrowingTaskGroup(of: Ending.self) { group in
            defer { group.cancelAll() }
            for source in sources {
                group.addTask {
                    for try await _ in source() { continuation.yield() }
                    return .sourceEnded
                }
            }
            group.addTask {
                for await _ in events where try await condition() { return .fulfilled }
                throw CancellationError()
            }
            group.addTask {
                // Limited to a duration that a clock can represent: a sleep that ends later than that traps.
                try await Task.sleep(for: min(max(limit, .zero), .seconds(1_000_000_000)))
                return .late
            }
            while let ending = try await group.next() {
                switch ending {
                case .fulfilled: return true
                case .late: return false
                case .sourceEnded: continue
                }
            }
            throw CancellationError()
        }
    }
}
