import CFreshetLinux
import Glibc

/// The address of a client, kept as bytes: most requests never need its text.
struct PeerAddress: Sendable, Equatable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private var family: UInt16 = 0

    init() {}

    init(_ storage: inout sockaddr_storage) {
        family = storage.ss_family
        withUnsafeBytes(of: &storage) { bytes in
            switch Int32(family) {
            case AF_INET:
                low = UInt64(bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            case AF_INET6:
                high = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                low = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            default:
                break
            }
        }
    }

    /// The address as a number; `nil` where there is none.
    var number: IPAddress? {
        switch Int32(family) {
        case AF_INET: IPAddress(version4: UInt32(bigEndian: UInt32(truncatingIfNeeded: low)))
        case AF_INET6: IPAddress(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        default: nil
        }
    }

    /// The address without the part that a client may choose, as ``IPAddress/subscriber``.
    var subscriber: PeerAddress {
        guard let number, !number.isVersion4, Int32(family) == AF_INET6 else { return self }
        var network = self
        network.low = 0
        return network
    }

    /// `127.0.0.1` or `::1`; empty where there is none.
    var text: String {
        var address = (high, low)
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isVersion4 = Int32(family) == AF_INET
        guard isVersion4 || Int32(family) == AF_INET6 else { return "" }
        let written = withUnsafeBytes(of: &address) { bytes in
            inet_ntop(Int32(family), bytes.baseAddress?.advanced(by: isVersion4 ? 8 : 0), &buffer, socklen_t(buffer.count))
        }
        guard written != nil else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
