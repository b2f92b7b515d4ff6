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

    /// Appends the text that `body` writes, of at most `capacity` bytes, to other bytes.
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
        write(value.magnitude, digits: Self.digits(of: value.magnitude))
    }

    /// A number that is not negative, with zeros before it up to `width` digits.
    mutating func write(_ number: Int64, width: Int = 1) {
        write(number.magnitude, digits: max(width, Self.digits(of: number.magnitude)))
    }

    private mutating func write(_ number: UInt64, digits: Int) {
        precondition(digits <= memory.count - count, "a text is longer than the room made for it")
        var rest = number
        for place in stride(from: count + digits - 1, through: count, by: -1) {
            memory[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    private static func digits(of number: UInt64) -> Int {
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, number >= bound {
            digits += 1
            let (next, overflows) = bound.multipliedReportingOverflow(by: 10)
            bound = overflows ? .max : next
        }
        return digits
    }
}
