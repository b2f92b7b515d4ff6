/// The result of a load.
struct LoadResult<Value: Sendable>: Sendable {
    /// Where a result is to be stored.
    enum StorePolicy: Sendable {
        case nowhere, inMemory, inBoth
        /// The stored bytes could not be decoded.
        case discard
    }

    var item: TieredValue<Value>?
    var source: CacheSource
    var storePolicy: StorePolicy
}
