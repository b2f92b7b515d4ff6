/// The state of a record or of a collection, and each change of it, as ``SyncedCollection/snapshots(forKey:policy:)``,
/// ``SyncedCollection/snapshots(policy:)`` and ``SyncedCollection/changes(policy:)`` observe it.
public struct SyncUpdates<Element: Sendable>: AsyncSequence, Sendable {
    /// Begins to observe, and returns the function that waits for the next element.
    let begin: @Sendable () async throws -> () async -> Element?

    /// Makes an iterator that begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(begin: begin) }

    /// Observes until it is released.
    public struct Iterator: AsyncIteratorProtocol {
        let begin: @Sendable () async throws -> () async -> Element?
        private var nextElement: (() async -> Element?)?

        init(begin: @escaping @Sendable () async throws -> () async -> Element?) { self.begin = begin }

        /// Returns the next element; `nil` when the client has stopped or the task was cancelled.
        public mutating func next() async throws -> Element? {
            let nextElement = if let nextElement { nextElement } else { try await begin() }
            self.nextElement = nextElement
            return await nextElement()
        }
    }
}
