import Glibc

/// How long the tests that profit from a long run last: short with the suite, long with `scripts/soak`, which sets
/// `FRESHET_SOAK`.
package enum SoakScale {
    package static let isSoak = getenv("FRESHET_SOAK") != nil
    /// Runs of the test that kills processes.
    package static let kills = isSoak ? 200 : 4
    /// Restarts of a device whose merge closures come late.
    package static let restarts = isSoak ? 200 : 4
    /// Seconds of the test that looks for stale reads.
    package static let staleSeconds = isSoak ? 120 : 5
}
