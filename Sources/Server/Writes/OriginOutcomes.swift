internal import FreshetWire

/// The outcomes that writes had under their first names and numbers: in this history a copy of the device has had them
/// decided there, before a restore or a drop hid that.
///
/// Read once for each name, at its first write: a batch whose writes each read the thousand kept outcomes of a device
/// would hold up all others for seconds.
struct OriginOutcomes {
    /// The numbers of the writes under each name.
    private let numbers: [ClientIdentifier: ClosedRange<Int64>]
    private var known: [ClientIdentifier: [Int64: StoredOutcome]] = [:]
    /// What a read counts at least, so that a batch of a thousand names is not one transaction.
    private static let leastBytes = 64 << 10

    /// O(writes).
    init(_ writes: [Write]) {
        var numbers: [ClientIdentifier: ClosedRange<Int64>] = [:]
        for place in writes.indices {
            // Without a nonce, a write has no outcome there.
            guard let origin = writes[place].origin, writes[place].nonce != nil else { continue }
            let known = numbers[origin.client] ?? origin.number...origin.number
            numbers[origin.client] = min(known.lowerBound, origin.number)...max(known.upperBound, origin.number)
        }
        self.numbers = numbers
    }

    /// The outcome of one of the writes; `nil` if it has none there, or if another write had its number.
    mutating func outcome(at origin: Write.Origin, of nonce: Int64?, _ applier: inout WriteApplier) throws -> WriteOutcome.Verdict? {
        guard let nonce, let numbers = numbers[origin.client] else { return nil }
        if known[origin.client] == nil {
            let read = try applier.namespace.outcomes(of: numbers, by: origin.client)
            applier.count(read: max(read.bytes, Self.leastBytes))
            known[origin.client] = Dictionary(read.outcomes.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        }
        guard let kept = known[origin.client]?[origin.number], kept.leavesOutFrom == nil, kept.nonce == nonce else { return nil }
        return kept.verdict
    }
}
