/// The bytes of arrays that wait to be sent, each array counted once however many connections it waits on.
struct SharedBytes {
    /// By the address of an array's elements, which no other array has while one that uses it is counted.
    private var uses: [UInt: Int] = [:]
    /// The bytes of all arrays.
    private(set) var bytes = 0

    /// Counts an array on another connection, which keeps the array, unchanged, until it is removed.
    mutating func add(_ array: [UInt8]) {
        guard let address = SharedBytes.address(of: array) else { return }
        let count = uses[address, default: 0]
        if count == 0 { bytes += array.count }
        uses[address] = count + 1
    }

    /// Counts an array that was added on one connection less.
    mutating func remove(_ array: [UInt8]) {
        guard let address = SharedBytes.address(of: array), let count = uses[address] else { return }
        uses[address] = count > 1 ? count - 1 : nil
        if count == 1 { bytes -= array.count }
    }

    private static func address(of array: [UInt8]) -> UInt? {
        array.isEmpty ? nil : array.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }
}
