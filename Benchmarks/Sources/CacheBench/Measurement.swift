import Foundation
import Glibc

/// Shared parts of the measurements: a clock, interleaved repetitions, a generator and a line per figure.
enum Measurement {
    static let repetitions = 9

    static var now: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// How many nanoseconds one operation takes.
    @inline(never)
    static func nanoseconds(_ operations: Int, _ body: () -> Int) -> Double {
        let start = now
        let result = body()
        let end = now
        sink(result)
        return Double(end - start) / Double(operations)
    }

    /// Runs the candidates one after the other, several times over, so that other load on the machine affects all of
    /// them alike.
    ///
    /// - Returns: the median of each candidate.
    static func interleaved(_ candidates: [() -> Double]) -> [Double] {
        var results = candidates.map { _ in [Double]() }
        for _ in 0..<repetitions {
            for (index, candidate) in candidates.enumerated() { results[index].append(candidate()) }
        }
        return results.map { $0.sorted()[$0.count / 2] }
    }

    static func report(_ name: String, ours: Double, peer: Double, unit: String = "") {
        print("\(name)\(unit.isEmpty ? "" : "-" + unit) ours=\(text(ours)) peer=\(text(peer)) ratio=\(text(ours / peer, digits: 3))")
    }

    private static func text(_ value: Double, digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }

    /// Keeps the optimiser from removing the measured code.
    @inline(never)
    private static func sink(_ value: Int) { if value == .min { print(value) } }
}

/// A generator with a seed, so that all runs use the same keys.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Numbers of which the first is the most frequent, the n-th as frequent as 1/n^exponent.
struct Zipf {
    private let cumulative: [Double]

    init(count: Int, exponent: Double) {
        var sum = 0.0
        cumulative = (1...count).map { rank in
            sum += pow(Double(rank), -exponent)
            return sum
        }
    }

    func next(_ random: inout Seeded) -> Int {
        let wanted = Double.random(in: 0..<1, using: &random) * (cumulative.last ?? 0)
        var (low, high) = (0, cumulative.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if cumulative[middle] <= wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
