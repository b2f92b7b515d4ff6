import Glibc

/// An IP address, or a network in CIDR notation (RFC 4632): `192.0.2.1`, `10.0.0.0/8`, `2001:db8::/32`.
public struct AddressRange: Sendable, Hashable {
    private let base: IPAddress
    /// Bits of the address that are fixed, 0 to 128.
    private let prefix: Int

    /// Parses an address or a network; `nil` where the text is neither. Bits behind the prefix are ignored.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let offset = address.isVersion4 ? 96 : 0
        var prefix = 128
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(parts[1]), bits <= 128 - offset else {
                return nil
            }
            prefix = offset + bits
        }
        self.prefix = prefix
        base = address.masked(prefix)
    }

    /// The addresses of the machine itself, `127.0.0.0/8` and `::1`.
    public static let loopback: [AddressRange] = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)

    func contains(_ address: IPAddress) -> Bool { address.masked(prefix) == base }
}

/// An address as a number of 128 bits; an IPv4 address is the one that RFC 4291 §2.5.5.2 maps it to.
struct IPAddress: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    init(version4 address: UInt32) { self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address)) }

    init?(_ text: String) {
        var version4 = in_addr()
        var version6 = in6_addr()
        if inet_pton(AF_INET, text, &version4) == 1 {
            self.init(version4: UInt32(bigEndian: version4.s_addr))
        } else if inet_pton(AF_INET6, text, &version6) == 1 {
            self = withUnsafeBytes(of: &version6) {
                IPAddress(
                    high: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                    low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            }
        } else {
            return nil
        }
    }

    var isVersion4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// The address with all bits behind the first `prefix` cleared.
    func masked(_ prefix: Int) -> IPAddress {
        IPAddress(high: high & IPAddress.mask(prefix), low: low & IPAddress.mask(prefix - 64))
    }

    /// The part of the address that identifies one client: an IPv4 address, or the network of 64 bits that an IPv6
    /// subscriber gets at least (RFC 6177).
    var subscriber: IPAddress { isVersion4 ? self : masked(64) }

    private static func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(UInt64.max >> UInt64(bits)) }
}
