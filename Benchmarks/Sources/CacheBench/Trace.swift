import Foundation

/// Sequences of keys that a program might look up.
enum Trace: String, CaseIterable {
    /// A few keys are looked up often, most seldom.
    case zipf
    /// As `zipf`, with an occasional scan of many keys that are not looked up again.
    case scans
    /// The set of frequent keys changes.
    case shifting
    /// As `zipf`, with one part of the program that loops over more keys than fit.
    case loops

    private static let requests = 1_000_000
    private static let keys = 100_000

    static func writeAll(into folder: String) throws {
        for trace in allCases {
            let text = trace.numbers.map(String.init).joined(separator: "\n") + "\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(trace.rawValue).txt"))
        }
    }

    private var numbers: [Int] {
        var random = Seeded(state: 42)
        let zipf = Zipf(count: Self.keys, exponent: 0.99)
        var numbers: [Int] = []
        numbers.reserveCapacity(Self.requests)
        var (scanned, looped) = (Self.keys, 0)
        while numbers.count < Self.requests {
            switch self {
            case .zipf: numbers.append(zipf.next(&random))
            case .scans:
                for _ in 0..<20_000 { numbers.append(zipf.next(&random)) }
                for _ in 0..<5_000 {
                    numbers.append(scanned)
                    scanned += 1
                }
            case .shifting:
                let shift = numbers.count / 20_000 * 1_009
                numbers.append((zipf.next(&random) + shift) % Self.keys)
            case .loops:
                // Every second lookup; the loop is a little longer than the greater of the two capacities.
                numbers.append(zipf.next(&random))
                numbers.append(Self.keys + looped % 12_000)
                looped += 1
            }
        }
        return Array(numbers.prefix(Self.requests))
    }
}
