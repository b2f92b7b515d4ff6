package import FreshetWire

/// The clock by which deletes, invalidations and outcomes age, until they are forgotten.
///
/// No wall clock is trusted to say how much time has passed: one that is ahead for a minute would make everything old. The
/// clock advances with the monotonic clock of a server while that runs. When a server starts, the clock advances by the time for
/// which the store was not used, as far as the wall clock shows it, and at most by a limit. Stamps of this clock are
/// compared with this clock alone, so its distance from the wall clock does not matter: docs/decisions/0072-retention-clock.md.
///
/// A pure value; all times are in milliseconds, and no sum of them overflows.
package struct RetentionClock: Hashable, Sendable {
    /// What a store keeps of the clock. Both parts only rise, so servers that share the store may raise them in any order.
    package struct Mark: Hashable, Sendable {
        /// The time of this clock.
        package var time: Int64
        /// The latest time that the store's wall clock has shown. A wall clock that is ahead counts once, however often a
        /// server starts meanwhile.
        package var wall: Int64

        package init(time: Int64, wall: Int64) {
            self.time = time
            self.wall = wall
        }
    }

    /// What a store says when a server starts.
    package struct Stored: Hashable, Sendable {
        /// `nil` in a store that is new, or was used by versions without this clock.
        package var mark: Mark?
        /// The latest stamp of a delete, an invalidation or a client, if there is no mark: versions without this clock
        /// stamped by their wall clock.
        package var latestStamp: Int64?
        /// The time of the store's own wall clock, which all of its servers share; `nil` if it has none.
        package var wall: Int64?

        package init(mark: Mark?, latestStamp: Int64? = nil, wall: Int64? = nil) {
            self.mark = mark
            self.latestStamp = latestStamp
            self.wall = wall
        }
    }

    private var time: Int64
    /// The reading of the monotonic clock at `time`.
    private var monotonic: Int64

    /// - Parameters:
    ///   - wall: the time of the server's wall clock, for a store without one.
    ///   - offLimit: the most by which the start of a server advances the clock.
    package init(_ stored: Stored, wall: Int64, monotonic: Int64, offLimit: Int64) {
        let wall = stored.wall ?? wall
        self.monotonic = monotonic
        if let mark = stored.mark {
            time = mark.time.sum(min(max(wall.sum(mark.wall.negated), 0), offLimit))
        } else {
            time = min(wall, stored.latestStamp?.sum(offLimit) ?? wall)
        }
    }

    /// The time when the monotonic clock shows `monotonic`.
    package func time(at monotonic: Int64) -> Timestamp {
        Timestamp(milliseconds: time.sum(max(monotonic.sum(self.monotonic.negated), 0)))
    }

    /// Takes the mark of the store, which another server may have raised.
    package mutating func take(_ mark: Mark, monotonic: Int64) {
        (time, self.monotonic) = (max(time(at: monotonic).milliseconds, mark.time), max(monotonic, self.monotonic))
    }
}

extension Timestamp {
    /// The time so many milliseconds before, or the first that there is.
    package func before(milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: self.milliseconds.sum(milliseconds.negated)) }
}

extension Int64 {
    /// The sum, or the nearest number that there is.
    fileprivate func sum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The number with the other sign, or the nearest one that there is.
    fileprivate var negated: Int64 { self == .min ? .max : -self }
}
