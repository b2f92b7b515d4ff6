/// An object that can use less memory for a while: any cache, table or pool. ``Cache`` conforms; conform a custom type
/// to shrink it too.
public protocol ShrinkableCache: AnyObject, Sendable {
    /// Keeps within a share of its limits from now on, and frees the memory above. Called on a thread of the
    /// ``MemoryPressure`` or of the caller of ``MemoryPressure/report(_:)``, never concurrently by one
    /// ``MemoryPressure``, with no lock held.
    ///
    /// - Parameter percent: 100 when memory suffices again; 50, 25 or 10 while it does not. The same share may be
    ///   passed again while pressure goes on.
    func shrink(toPercent percent: Int)
}

extension ShrinkableCache {
    /// Lets memory pressure shrink this cache, and restore its limits afterwards. The pressure holds no strong
    /// reference to the cache. Join one pressure only. O(1), except for the first cache to join, see
    /// ``MemoryPressure``.
    public func shrinks(under pressure: MemoryPressure) { pressure.add(self) }
}
