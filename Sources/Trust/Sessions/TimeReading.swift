/// A reading of both clocks at once, in milliseconds.
package struct TimeReading: Hashable, Sendable {
    /// Since 1970. It may be set back and forward.
    package let wall: Int64
    /// Since an arbitrary start. It never goes back.
    package let monotonic: Int64

    package init(wall: Int64, monotonic: Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }
}
