/// Writes a short text straight into the memory of the string that it becomes; an interpolation appends it piece by piece, which costs
/// ten times as much, and texts like these stand in every response.
struct ASCIIWriter {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    private init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    /// The text that `body` writes, of at most `capacity` bytes.
    static func text(capacity: Int, _ body: (inout ASCIIWriter) -> Void) -> String {
        String(unsafeUninitializedCapacity: capacity) { memory in
            var writer = ASCIIWriter(memory)
            body(&writer)
            return writer.count
        }
    }

    /// The same at the end of other bytes.
    static func append(to bytes: inout [UInt8], capacity: Int, _ body: (inout ASCIIWriter) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { memory in
            var writer = ASCIIWriter(memory)
            body(&writer)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: memory[..<writer.count]))
        }
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        precondition(count < memory.count, "a text is longer than the room made for it")
        memory[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func write(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        precondition(length <= memory.count - count, "a text is longer than the room made for it")
        memory.baseAddress?.advanced(by: count).update(from: text.utf8Start, count: length)
        count += length
    }

    mutating func write(_ text: String) {
        for byte in text.utf8 { write(byte) }
    }

    /// A whole number, with a minus before a negative one.
    mutating func decimal(_ value: Int64) {
        if value < 0 { write(UInt8(ascii: "-")) }
        var rest = value.magnitude
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, rest >= bound {
            digits += 1
            let (next, overflows) = bound.multipliedReportingOverflow(by: 10)
            bound = overflows ? .max : next
        }
        precondition(digits <= memory.count - count, "a text is longer than the room made for it")
        for place in stride(from: count + digits - 1, through: count, by: -1) {
            memory[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// A number that is not negative, with zeros before it up to `width` digits.
    mutating func write(_ number: Int64, width: Int = 1) {
        var divisor: Int64 = 1
        var digits = 1
        while digits < width || number / divisor >= 10 {
            divisor *= 10
            digits += 1
        }
        while divisor > 0 {
            write(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
