/// Requests by name and parameters over any async loader, answered by one of four policies out of a ``TwoTierCache``.
///
/// ```swift
/// let requests = RequestCache<[User]>(TwoTierCache(primary: Cache(), secondary: disk))
/// let key = RequestKey("users", ["page": "2"])
/// for try await users in requests.values(forKey: key, policy: .cacheThenNetwork, load: { try await api.users(page: 2) }) {
///     show(users.value, users.source, users.storedAt)
/// }
/// ```
///
/// A fetch that is in flight is shared by all requests with the same key, whatever their policies; lifetime, tags and
/// protection are those of the request that began it. A cancelled request leaves, and the others go on. The fetched
/// value is stored unless the key was written or removed meanwhile. Expired answers are removed from both tiers
/// automatically. Safe from any thread.
public struct RequestCache<Value: Sendable>: Sendable {
    /// The default lifetime of an answer: a day.
    public static var standardLifetime: Lifetime { .after(.seconds(24 * 60 * 60)) }

    /// The underlying cache, to remove, prefetch and inspect answers.
    public let cache: TwoTierCache<RequestKey, Value>

    /// Creates a request cache over a ``TwoTierCache``.
    public init(_ cache: TwoTierCache<RequestKey, Value>) { self.cache = cache }

    /// The values of a request by a policy: at most two for ``RequestPolicy/cacheThenNetwork``, one for the others.
    ///
    /// With ``RequestPolicy/cacheThenNetwork`` the fetch begins after the lookup, before the stored value is returned.
    /// Without a stored value only the fetched one is returned. The fetched value is returned even if it is equal to
    /// the stored one: its date shows that it is right now. If the fetch fails, its error is thrown after the stored
    /// value. Releasing the sequence, or cancelling the task, cancels the fetch.
    ///
    /// - Parameters:
    ///   - lifetime: the lifetime of the fetched value.
    ///   - tags: tags by which the value can be removed.
    ///   - protection: where the value may be stored; nil for the cache's configuration.
    ///   - load: fetches the value, in a separate task, within ``TwoTierCache/Configuration/loadTimeout``. A fetch that
    ///     would wait for itself gets ``LoadError/cyclic(keys:)``, see ``TwoTierCache/value(forKey:lifetime:tags:protection:orLoad:)``.
    public func values(
        forKey key: RequestKey, policy: RequestPolicy, lifetime: Lifetime = standardLifetime, tags: Set<CacheTag> = [],
        protection: DiskProtection? = nil, load: @escaping @Sendable () async throws -> Value
    ) -> RequestedValues<Value> {
        RequestedValues(key: key, policy: policy, cache: cache) { [cache] in
            try await cache.fetched(key, lifetime, tags, protection, load)
        } keptOrFetched: { [cache] in
            if let found = await cache.find(key) { return found }
            return try await cache.loaded(key, lifetime, tags, protection, load)
        }
    }

    /// The last of the values of ``values(forKey:policy:lifetime:tags:protection:load:)``: with
    /// ``RequestPolicy/cacheThenNetwork`` the fetched one.
    ///
    /// - Throws: the error of `load`; a ``LoadError``; ``RequestError/notCached(_:)``; `CancellationError`.
    public func value(
        forKey key: RequestKey, policy: RequestPolicy = .cacheElseNetwork, lifetime: Lifetime = standardLifetime, tags: Set<CacheTag> = [],
        protection: DiskProtection? = nil, load: @escaping @Sendable () async throws -> Value
    ) async throws -> RequestedValue<Value> {
        var last: RequestedValue<Value>?
        for try await value in values(forKey: key, policy: policy, lifetime: lifetime, tags: tags, protection: protection, load: load) {
            last = value
        }
        // Every policy returns a value or throws.
        guard let last else { throw CancellationError() }
        return last
    }

    /// The stored value of a request, without fetching.
    ///
    /// - Throws: ``RequestError/notCached(_:)``.
    public func cachedValue(forKey key: RequestKey) async throws -> RequestedValue<Value> {
        guard let (item, source) = await cache.find(key) else {
            try Task.checkCancellation()
            throw RequestError.notCached(key)
        }
        return RequestedValue(item, source)
    }

    /// Removes the stored values of all requests of a name, with any parameters.
    public func removeAll(named name: String) async throws { try await cache.removeAll(withNamePrefix: RequestKey.prefix(ofName: name)) }
}
