#if PostgreSQL
/// The parameters of a statement, in PostgreSQL's binary formats, in order. Nothing is escaped, and nothing is copied into a text.
///
/// The types of the arguments have to be those that the statement expects: `Int64` for `bigint`, `Int32` for `integer`,
/// `Int16` for `smallint`, `String` for `text`, `[UInt8]` for `bytea`, `Bool` for `boolean`.
package struct Parameters: Sendable {
    /// The values, one after another.
    private(set) var bytes: [UInt8] = []
    /// Where each value lies; `nil` for NULL.
    private(set) var places: [Range<Int>?] = []

    package init() {}

    /// The number of parameters.
    package var count: Int { places.count }

    /// The bytes of all values.
    package var byteCount: Int { bytes.count }

    package mutating func add(_ value: Int64?) { add(value) { $0.append(integer: $1) } }

    package mutating func add(_ value: Int32) { add(value) { $0.append(integer: $1) } }

    package mutating func add(_ value: Int16) { add(value) { $0.append(integer: $1) } }

    package mutating func add(_ value: Bool) { add(value) { $0.append($1 ? 1 : 0) } }

    package mutating func add(_ value: String?) { add(value) { $0.append(contentsOf: $1.utf8) } }

    package mutating func add(_ value: [UInt8]?) { add(value) { $0.append(contentsOf: $1) } }

    /// Adds an array of one dimension, in which `nil` is NULL.
    package mutating func add(array values: some Collection<Int64?>) {
        add(array: values, of: 20, room: 12) { $0.append(integer: $1) }
    }

    package mutating func add(array values: some Collection<Int64>) {
        add(array: values.lazy.map(Optional.some), of: 20, room: 12) { $0.append(integer: $1) }
    }

    package mutating func add(array values: some Collection<Int32>) {
        add(array: values.lazy.map(Optional.some), of: 23, room: 8) { $0.append(integer: $1) }
    }

    package mutating func add(array values: some Collection<Int16>) {
        add(array: values.lazy.map(Optional.some), of: 21, room: 6) { $0.append(integer: $1) }
    }

    package mutating func add(array values: some Collection<Bool>) {
        add(array: values.lazy.map(Optional.some), of: 16, room: 5) { $0.append($1 ? 1 : 0) }
    }

    package mutating func add(array values: some Collection<String?>) {
        add(array: values, of: 25, room: 20) { $0.append(contentsOf: $1.utf8) }
    }

    package mutating func add(array values: some Collection<String>) {
        add(array: values.lazy.map(Optional.some), of: 25, room: 20) { $0.append(contentsOf: $1.utf8) }
    }

    package mutating func add(array values: some Collection<[UInt8]?>) {
        add(array: values, of: 17, room: 20) { $0.append(contentsOf: $1) }
    }

    private mutating func add<Value>(_ value: Value?, _ append: (inout [UInt8], Value) -> Void) {
        guard let value else { return places.append(nil) }
        let start = bytes.count
        append(&bytes, value)
        places.append(start..<bytes.count)
    }

    /// The format of `array_recv` in PostgreSQL's `arrayfuncs.c`: the number of dimensions, whether there are NULLs, the type
    /// of the elements, the length and the first index of the dimension, and then the length of each element, -1 for NULL, with
    /// its bytes.
    private mutating func add<Value>(
        array values: some Collection<Value?>, of type: Int32, room: Int, _ append: (inout [UInt8], Value) -> Void
    ) {
        let start = bytes.count
        let count = values.count
        bytes.reserveCapacity(start + 20 + count * room)
        bytes.append(integer: Int32(count == 0 ? 0 : 1))
        bytes.append(integer: Int32(values.contains { $0 == nil } ? 1 : 0))
        bytes.append(integer: type)
        if count > 0 {
            bytes.append(integer: Int32(clamping: count))
            bytes.append(integer: Int32(1))
        }
        for value in values {
            guard let value else {
                bytes.append(integer: Int32(-1))
                continue
            }
            let place = bytes.count
            bytes.append(integer: Int32(0))
            append(&bytes, value)
            bytes.set(Int32(clamping: bytes.count - place - 4), at: place)
        }
        places.append(start..<bytes.count)
    }
}

extension [UInt8] {
    /// Appends the bytes of an integer, the highest first.
    fileprivate mutating func append<Value: FixedWidthInteger>(integer value: Value) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func set(_ value: Int32, at place: Int) {
        Swift.withUnsafeBytes(of: value.bigEndian) { for (offset, byte) in $0.enumerated() { self[place + offset] = byte } }
    }
}
#endif
