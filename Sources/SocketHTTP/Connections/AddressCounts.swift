/// Counts the open connections of each address, and decides whether an address may have another; needs no sockets.
struct AddressCounts {
    /// The decision about a connection.
    enum Decision: Equatable {
        case serve
        /// Answer `503` and close.
        case refuse
        /// Close at once: enough connections of this address are being answered so already.
        case drop
    }

    /// Connections that an address may have open.
    let limit: Int
    /// Connections beyond the limit that may be open while they are answered `503`.
    var refusals = 16
    private var counts: [IPAddress: Int] = [:]

    init(limit: Int) { self.limit = limit }

    /// Decides about a connection, and counts it unless it is dropped.
    mutating func admit(_ address: IPAddress) -> Decision {
        let count = counts[address, default: 0]
        guard count - refusals < limit else { return .drop }
        counts[address] = count + 1
        return count < limit ? .serve : .refuse
    }

    /// Counts down for a closed connection.
    mutating func remove(_ address: IPAddress) {
        guard let count = counts[address] else { return }
        counts[address] = count > 1 ? count - 1 : nil
    }

    /// The number of addresses that have connections open.
    var addresses: Int { counts.count }
}
