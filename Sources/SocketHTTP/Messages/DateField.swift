internal import FreshetPlatform
internal import Synchronization

/// The value of the `Date` field, formatted once a second for the whole process.
enum DateField {
    static func now() -> [UInt8] {
        let second = SystemClock.coarseWallSeconds
        return cache.withLock { cache in
            if cache.second != second { cache = (second, HTTPDate(seconds: second).bytes) }
            return cache.text
        }
    }

    private static let cache = Mutex<(second: Int64, text: [UInt8])>((.min, []))
}
