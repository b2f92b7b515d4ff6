package import FreshetWire

/// A read from the server, for the user or after a miss of the cache.
package struct FetchRequest: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var key: RecordKey
        /// The disk's row of the key now, if there is one: the server need not send its value again, and the response
        /// may not be older.
        package var known: Entry?

        package init(key: RecordKey, known: Entry? = nil) {
            self.key = key
            self.known = known
        }
    }

    package var callerID: CallerID
    /// Each key once. A request without keys asks only whether the server can be reached, as far as the device knows.
    package var items: [Item]
    /// Whether the response must be to a request sent after this call; otherwise one that is already in flight suffices.
    package var mustBeNew: Bool

    package init(callerID: CallerID, items: [Item], mustBeNew: Bool = false) {
        self.callerID = callerID
        self.items = items
        self.mustBeNew = mustBeNew
    }
}
