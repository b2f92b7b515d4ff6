import FreshetTestSupport
import Testing

@testable import FreshetTrust

/// Whether the time of a refusal shows how much of a secret was right: Welch's t-test over two classes of wrong keys, as
/// dudect does it (https://eprint.iacr.org/2016/1123). Part of `scripts/soak`.
@Suite("Timing of refused keys", .enabled(if: SoakScale.isSoak), .serialized) struct KeyTimingTests {
    /// Refusals in all.
    private static let tries = 1_000_000
    /// Beyond this the two classes differ with near certainty; 4.5 is the usual bound of such tests.
    private static let bound = 4.5

    /// The two classes: keys whose secret differs from the right one in its last character, and in its first.
    private func wrongKeys(of key: AccessKey, _ count: Int) throws -> [[AccessKey]] {
        let right = Array(key.token.exposed.dropLast(AccessKey.checkCount))
        return try [right.count - 1, right.count - AccessKey.secretCount].map { place in
            try (0..<count).map { _ in
                var token = right
                repeat { token[place] = UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z")) } while token[place] == right[place]
                return try AccessKey(token + Base62.text(CRC32.checksum(token), count: AccessKey.checkCount))
            }
        }
    }

    /// The t of the two classes' times, without the slowest twentieth of all, which interrupts prolong.
    private func difference(_ check: (_ number: Int, _ isSecond: Bool) -> Void) -> Double {
        var random = SystemRandomNumberGenerator()
        var times: [[Double]] = [[], []]
        let clock = ContinuousClock()
        for number in 0..<Self.tries {
            let isSecond = random.next() & 1 == 1
            let time = clock.measure { check(number, isSecond) }
            times[isSecond ? 1 : 0].append(time / .nanoseconds(1))
        }
        let all = (times[0] + times[1]).sorted()
        let limit = all[all.count * 19 / 20]
        let (first, second) = (Moments(times[0].filter { $0 <= limit }), Moments(times[1].filter { $0 <= limit }))
        return (first.mean - second.mean) / (first.variance / first.count + second.variance / second.count).squareRoot()
    }

    private struct Moments {
        var count: Double
        var mean: Double
        var variance: Double

        init(_ values: [Double]) {
            count = Double(values.count)
            let mean = values.reduce(0, +) / Double(values.count)
            self.mean = mean
            variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (Double(values.count) - 1)
        }
    }

    @Test("does not depend on where a secret is wrong")
    func refusal() throws {
        // Given a stored key, and keys with nearly the right secret and with another one from its first character on
        var random = SystemRandomNumberGenerator()
        let key = AccessKey(using: &random)
        let stored = StoredKey(key, name: "k", rights: .all, created: 0)
        let wrong = try wrongKeys(of: key, 256)
        var refusals = 0
        // When each is refused
        let t = difference { number, isSecond in
            do { _ = try stored.check(wrong[isSecond ? 1 : 0][number & 255], at: 0) } catch { refusals += 1 }
        }
        // Then
        #expect(abs(t) < Self.bound && refusals == Self.tries, "t = \(t)")
    }

    @Test("would be seen if secrets were compared byte by byte until one differs")
    func control() throws {
        // Given the same keys
        var random = SystemRandomNumberGenerator()
        let key = AccessKey(using: &random)
        let wrong = try wrongKeys(of: key, 256).map { $0.map(\.secret.exposed) }
        let right = key.secret.exposed
        // When a comparison ends at the first difference
        var matches = 0
        let t = difference { number, isSecond in
            let given = wrong[isSecond ? 1 : 0][number & 255]
            var index = 0
            while index < right.count, given[index] == right[index] { index += 1 }
            if index == right.count { matches += 1 }
        }
        // Then the test sees it
        #expect(abs(t) > Self.bound && matches == 0, "t = \(t)")
    }
}
