/// What can do with less memory for a while: any cache, table or pool. ``Cache`` is one; make yours one to have it told too.
public protocol ShrinkableCache: AnyObject, Sendable {
    /// Keeps within a share of its limits from now on, and lets go of what is above. Called on a thread of the pressure's or of whoever
    /// reports it, never twice at a time by one ``MemoryPressure``, with no lock held.
    ///
    /// - Parameter percent: 100 when there is memory again; 50, 25 or 10 while there is not. A share that was told before may come again while
    ///   pressure goes on.
    func shrink(toPercent percent: Int)
}

extension ShrinkableCache {
    /// Lets memory pressure shrink this cache, and returns its limits when there is memory again. The pressure does not keep the cache:
    /// it may go at any time. Join one pressure only. O(1), but for the first to join, see ``MemoryPressure``.
    public func shrinks(under pressure: MemoryPressure) { pressure.add(self) }
}
