/// The values of a request, in order; see ``RequestCache/values(forKey:policy:lifetime:tags:protection:load:)``. Each
/// iterator repeats the request.
public struct RequestedValues<Value: Sendable>: AsyncSequence, Sendable {
    /// A value of the request.
    public typealias Element = RequestedValue<Value>

    let key: RequestKey
    let policy: RequestPolicy
    let cache: TwoTierCache<RequestKey, Value>
    let fetched: @Sendable () async throws -> TieredValue<Value>
    let keptOrFetched: @Sendable () async throws -> (item: TieredValue<Value>, source: CacheSource)

    /// Creates an iterator. The request begins with the first ``Iterator/next()``.
    public func makeAsyncIterator() -> Iterator { Iterator(values: self) }

    /// Makes the request once.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Step {
            case begin
            case fetch(Fetch)
            case end
        }

        private let values: RequestedValues
        private var step = Step.begin

        fileprivate init(values: RequestedValues) { self.values = values }

        /// The next value; nil at the end.
        ///
        /// - Throws: the load's error; ``RequestError/notCached(_:)``; `CancellationError`.
        public mutating func next() async throws -> RequestedValue<Value>? {
            switch step {
            case .end: return nil
            case .fetch(let fetch):
                step = .end
                return RequestedValue(try await fetch.value(), .network)
            case .begin:
                step = .end
                return try await first()
            }
        }

        private mutating func first() async throws -> RequestedValue<Value> {
            switch values.policy {
            case .cacheOnly: return try await RequestCache(values.cache).cachedValue(forKey: values.key)
            case .networkOnly: return RequestedValue(try await values.fetched(), .network)
            case .cacheElseNetwork:
                let (item, source) = try await values.keptOrFetched()
                return RequestedValue(item, source)
            case .cacheThenNetwork:
                // Begun after the lookup, which could otherwise find the result of a quick fetch, and return it twice.
                let kept = await values.cache.find(values.key)
                let fetch = Fetch(values.fetched)
                guard let (item, source) = kept else { return RequestedValue(try await fetch.value(), .network) }
                step = .fetch(fetch)
                return RequestedValue(item, source)
            }
        }
    }

    /// A fetch that is cancelled with its only waiter.
    private final class Fetch: Sendable {
        private let task: Task<TieredValue<Value>, any Error>

        init(_ body: @escaping @Sendable () async throws -> TieredValue<Value>) { task = Task { try await body() } }

        deinit { task.cancel() }

        func value() async throws -> TieredValue<Value> {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }
}
