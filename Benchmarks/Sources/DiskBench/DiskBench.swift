import FreshetCache
import Glibc

/// Compares `DiskCache` with its peers, and prints one figure a line: `name ours=… peer=… ratio=…`, times in microseconds unless named.
///
///     DiskBench DIRECTORY hit                       compared with a prepared point read of SQLite through its C API
///     DiskBench DIRECTORY open                      with 10^4, 10^5 and 10^6 entries
///     DiskBench DIRECTORY get-set GET SET           compared with these figures of python-diskcache, in microseconds
@main
struct DiskBench {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { usage() }
        let directory = arguments[1]
        switch arguments[2] {
        case "hit": try await HitBench(directory: directory).run()
        case "open": try await OpenBench(directory: directory).run()
        case "get-set":
            guard arguments.count == 5, let get = Double(arguments[3]), let set = Double(arguments[4]) else { usage() }
            try await GetSetBench(directory: directory, peerGet: get, peerSet: set).run()
        default: usage()
        }
    }

    private static func usage() -> Never {
        print("usage: DiskBench DIRECTORY hit | open | get-set GET SET")
        exit(64)
    }

    static func line(_ name: String, ours: Double, peer: Double) {
        print("\(name) ours=\(rounded(ours)) peer=\(rounded(peer)) ratio=\(rounded(ours / peer))")
    }

    private static func rounded(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// Microseconds for each of `count` operations.
    static func time(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        return try clock.measure(body) / .microseconds(1) / Double(count)
    }
}

/// The keys and the value that all measurements use.
enum Sample {
    static let value = (0..<100).map { UInt8($0) }

    static func keys(_ count: Int) -> [String] { (0..<count).map { "user/\($0)/profile" } }

    /// The same order for both sides: each key once, shuffled.
    static func order(_ count: Int) -> [Int] {
        var state: UInt64 = 42
        var order = Array(0..<count)
        for index in stride(from: count - 1, to: 0, by: -1) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            order.swapAt(index, Int((state >> 33) % UInt64(index + 1)))
        }
        return order
    }

    static func fill(_ cache: DiskCache, _ keys: some Sequence<String>) async throws {
        var waiting = 0
        for key in keys {
            try cache.stageValue(value, forKey: key)
            waiting += 1
            if waiting % 20_000 == 0 { try await cache.flush() }
        }
        try await cache.flush()
    }
}
