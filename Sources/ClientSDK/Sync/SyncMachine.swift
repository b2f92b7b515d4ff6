/// One device in one namespace: it follows the feed, sends writes, fences reads and says what to show. (Being filled in.)
package struct SyncMachine: Sendable {
    package let settings: SyncSettings

    package init(settings: SyncSettings) { self.settings = settings }

    /// What is to be done about an event. O(size of the event), not of the cache.
    package mutating func handle(_ event: SyncEvent, at now: Moment) -> [SyncAction] { [] }
}
