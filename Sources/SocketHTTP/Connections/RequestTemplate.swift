import Glibc

/// The head of a connection's latest request that may repeat, and the handler of its repetitions.
///
/// A delivery to 1,000 long polls with different fields takes 8.5 µs of processor time with templates, and 11.9 if each
/// poll is parsed and routed (`docs/decisions/0047-fan-out.md`). If the parser becomes as fast, remove this type and its
/// handlers.
struct RequestTemplate: Sendable {
    /// Longer heads are not kept, since each connection may have one.
    private static let longestHead = 2 << 10

    private let bytes: [UInt8]
    // Of two bytes each, since each waiting connection has them.
    private let valueStart: UInt16
    private let valueEnd: UInt16
    let traits: RequestSlot.Traits
    let origin: UInt16
    let handler: any RepeatedRequestHandler

    /// Returns `nil` for a head that is not kept: a long one, or that of a request with a body.
    ///
    /// - Parameter origin: that of the request's ``RequestSlot``.
    init?(_ head: RequestHead, _ repetition: Repetition, origin: UInt16) {
        guard head.body == .none, head.bytes.count <= Self.longestHead else { return nil }
        bytes = head.bytes
        (valueStart, valueEnd) = (UInt16(repetition.value.lowerBound), UInt16(repetition.value.upperBound))
        traits = head.traits
        self.origin = origin
        handler = repetition.handler
    }

    /// Finds the value in a head at the start of `input` that is otherwise the same; returns `nil` for any other input.
    ///
    /// The value must consist of unreserved characters (RFC 3986 §2.3), which stand for themselves, and must not be longer
    /// than the earlier one, so that the head is within all limits. A head ends with its blank line, so no bytes behind it
    /// can change its meaning.
    func match(_ input: UnsafeRawBufferPointer) -> (value: Range<Int>, end: Int)? {
        let value = Int(valueStart)..<Int(valueEnd)
        return bytes.withUnsafeBytes { bytes in
            let rest = bytes.count - value.upperBound
            guard input.count > value.lowerBound + rest, let start = input.baseAddress, let known = bytes.baseAddress,
                memcmp(start, known, value.lowerBound) == 0
            else { return nil }
            var end = value.lowerBound
            let limit = min(value.upperBound, input.count - rest)
            while end < limit, input[end].isUnreserved { end += 1 }
            guard end > value.lowerBound, memcmp(start + end, known + value.upperBound, rest) == 0 else { return nil }
            return (value.lowerBound..<end, end + rest)
        }
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension RequestHead {
    /// The constraints that the request puts on its answer.
    var traits: RequestSlot.Traits {
        var traits: RequestSlot.Traits = []
        if line.method == .head { traits.insert(.headOnly) }
        if line.isHTTP10 { traits.insert(.isHTTP10) }
        if !keepsAlive { traits.insert(.closes) }
        return traits
    }
}
