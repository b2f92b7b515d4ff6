/// The event that a test waited for did not come.
package struct TooLate: Error, CustomStringConvertible {
    let what: String
    package var description: String { "\(what) did not come in time" }
}

/// Runs the closure, and fails when it takes longer than the limit. No test waits by the clock for success: this is only the guard.
package func within<Result: Sendable>(
    _ limit: Duration = .seconds(120), _ what: String = "the end", _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: limit)
            throw TooLate(what: what)
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw TooLate(what: what) }
        return result
    }
}

/// Waits for the first element that fulfils the condition.
package func first<Elements: AsyncSequence & Sendable>(
    of elements: Elements, _ what: String = "the element", limit: Duration = .seconds(120),
    where condition: @escaping @Sendable (Elements.Element) -> Bool
) async throws -> Elements.Element where Elements.Element: Sendable {
    try await within(limit, what) {
        for try await element in elements where condition(element) { return element }
        throw TooLate(what: what)
    }
}
