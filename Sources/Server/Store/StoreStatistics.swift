/// How a store that is reached over a network is doing, for the metrics.
package struct StoreStatistics: Hashable, Sendable {
    /// The connections that transactions use now.
    package var writing: Int
    /// The connections that reads use now.
    package var reading: Int
    /// How many connections were opened, and how many could not be.
    package var opened: Int
    package var failures: Int
    /// The age of the oldest transaction with a snapshot, of any program in the cluster, in seconds: as long as it lasts, the rows that
    /// writes replace cannot be removed. `nil` if the database did not say.
    package var oldestTransaction: Int?

    package init(writing: Int, reading: Int, opened: Int, failures: Int, oldestTransaction: Int?) {
        self.writing = writing
        self.reading = reading
        self.opened = opened
        self.failures = failures
        self.oldestTransaction = oldestTransaction
    }
}
