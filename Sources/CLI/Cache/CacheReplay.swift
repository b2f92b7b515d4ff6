import FreshetCache

/// The result of looking up a list of keys in a cache in memory, one after the other; each key that misses is stored.
struct CacheReplay: Hashable {
    var requests = 0
    var hits = 0

    /// Hits among requests, 0 … 1.
    var hitRatio: Double { requests == 0 ? 0 : Double(hits) / Double(requests) }

    /// - Parameters:
    ///   - trace: UTF-8 text, a key a line; empty lines are ignored.
    ///   - capacity: how many keys the cache holds.
    ///   - name: the file's name, for error messages.
    init(trace: [UInt8], capacity: Int, named name: String) throws(CommandFailure) {
        let cache = Cache<String, Void>(countLimit: capacity, lifetime: .unlimited, shards: 1)
        for (number, line) in trace.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !text.isEmpty else { continue }
            guard let key = String(validating: text, as: UTF8.self) else {
                throw CommandFailure(.data, "\(name), line \(number + 1): not UTF-8; a trace holds one key a line, as text")
            }
            requests += 1
            if cache.value(forKey: key) != nil { hits += 1 } else { cache.setValue((), forKey: key) }
        }
        guard requests > 0 else { throw CommandFailure(.data, "\(name) holds no key; a trace holds one a line") }
    }
}
