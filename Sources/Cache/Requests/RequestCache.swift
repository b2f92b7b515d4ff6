/// Requests by name and parameters over any async loader, answered by one of four policies out of a ``TwoTierCache``.
///
/// ```swift
/// let requests = RequestCache<[User]>(TwoTierCache(primary: Cache(), secondary: disk))
/// let key = RequestKey("users", ["page": "2"])
/// for try await users in requests.values(for: key, policy: .cacheThenNetwork, load: { try await api.users(page: 2) }) {
///     show(users.value, users.source, users.recorded)
/// }
/// ```
///
/// A fetch that is under way is joined by all that ask for the same, whatever their policies; lifetime, tags and protection are those of
/// the one that began it. One that is cancelled leaves, and the others go on. What was fetched is kept unless it was overtaken by a write or a
/// removal. What is over leaves both tiers by itself. Safe from any thread.
public struct RequestCache<Value: Sendable>: Sendable {
    /// How long an answer is kept unless a call says otherwise: a day.
    public static var standardLifetime: Lifetime { .after(.seconds(24 * 60 * 60)) }

    /// What answers are kept in: remove, prefetch and look at them here.
    public let cache: TwoTierCache<RequestKey, Value>

    /// Requests that are answered out of this cache.
    public init(_ cache: TwoTierCache<RequestKey, Value>) { self.cache = cache }

    /// What a policy gives for a request: for ``RequestPolicy/cacheThenNetwork`` at most two values, for the others one.
    ///
    /// With ``RequestPolicy/cacheThenNetwork`` the fetch begins when it is known what is kept, before that is given out. If nothing is kept,
    /// only what is fetched comes. What is fetched comes even if it is equal to what was kept: its date says that it is right now. If the fetch fails,
    /// its error is thrown after what was kept. Letting go of the sequence, or cancelling the task, lets go of the fetch.
    ///
    /// - Parameters:
    ///   - lifetime: how long what is fetched is kept.
    ///   - tags: names under which it can be removed.
    ///   - protection: where it may be kept; nil for the cache's configuration.
    ///   - load: fetches the value; it runs in a task of its own.
    public func values(
        for key: RequestKey, policy: RequestPolicy, lifetime: Lifetime = standardLifetime, tags: Set<String> = [],
        protection: DiskProtection? = nil, load: @escaping @Sendable () async throws -> Value
    ) -> RequestedValues<Value> {
        RequestedValues(key: key, policy: policy, cache: cache) { [cache] in
            try await cache.fetched(key, lifetime, tags, protection, load)
        } keptOrFetched: { [cache] in
            if let found = await cache.find(key) { return found }
            return try await cache.loaded(key, lifetime, tags, protection, load)
        }
    }

    /// The last of what ``values(for:policy:lifetime:tags:protection:load:)`` gives: with ``RequestPolicy/cacheThenNetwork`` what was fetched.
    ///
    /// - Throws: what `load` throws; ``RequestError/notCached(_:)``; `CancellationError`.
    public func value(
        for key: RequestKey, policy: RequestPolicy = .cacheElseNetwork, lifetime: Lifetime = standardLifetime, tags: Set<String> = [],
        protection: DiskProtection? = nil, load: @escaping @Sendable () async throws -> Value
    ) async throws -> RequestedValue<Value> {
        var last: RequestedValue<Value>?
        for try await value in values(for: key, policy: policy, lifetime: lifetime, tags: tags, protection: protection, load: load) {
            last = value
        }
        // Every policy gives a value or throws.
        guard let last else { throw CancellationError() }
        return last
    }

    /// What is kept for a request, without anything to fetch it.
    ///
    /// - Throws: ``RequestError/notCached(_:)``.
    public func cachedValue(for key: RequestKey) async throws -> RequestedValue<Value> {
        guard let (item, source) = await cache.find(key) else {
            try Task.checkCancellation()
            throw RequestError.notCached(key)
        }
        return RequestedValue(item, source)
    }

    /// Removes what is kept for all requests of a name, whatever their parameters.
    public func removeAll(named name: String) async throws { try await cache.removeAll(withNamePrefix: RequestKey.prefix(ofName: name)) }
}
