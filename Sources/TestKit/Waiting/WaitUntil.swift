private enum WaitEnding {
    case fulfilled
    case timedOut
    case sourceEnded
}

/// Waits for a condition, which is checked at each event. Returns whether it held within the limit.
///
/// - Parameters:
///   - sources: each makes a sequence whose elements mean that the condition should be checked. The end of a
///     sequence is ignored.
///   - condition: may become true only through changes that precede an element.
func waitUntil<Source: AsyncSequence & SendableMetatype>(
    events sources: [@Sendable () -> Source], within limit: Duration, _ condition: @escaping @Sendable () async throws -> Bool
) async throws -> Bool {
    let (events, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
    return try await withThrowingTaskGroup(of: WaitEnding.self) { group in
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
            return .timedOut
        }
        while let ending = try await group.next() {
            switch ending {
            case .fulfilled: return true
            case .timedOut: return false
            case .sourceEnded: continue
            }
        }
        throw CancellationError()
    }
}
