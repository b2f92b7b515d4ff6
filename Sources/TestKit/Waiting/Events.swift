/// Waits for a condition, and looks whether it holds whenever something has happened.
enum Events {
    private enum Ending {
        case fulfilled
        case late
        case sourceEnded
    }

    /// Returns whether the condition held within the limit.
    ///
    /// - Parameters:
    ///   - sources: each makes a sequence whose elements say that it is worth a look. A sequence that ends is not waited for.
    ///   - condition: must be true only by what has happened before an element comes.
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
                // Held to what a clock can name: a sleep that ends beyond it traps.
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
