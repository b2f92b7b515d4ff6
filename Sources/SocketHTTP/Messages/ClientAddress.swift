/// A client by its address: an IPv4 address, or the IPv6 network of 64 bits that a subscriber gets at least (RFC 6177).
public struct ClientAddress: Hashable, Sendable {
    let address: IPAddress
}

extension Request {
    /// The client by its address; `nil` for an address of `exempt`, such as a proxy's, and for a peer without an IP address.
    public func client(besides exempt: [AddressRange]) -> ClientAddress? {
        guard let address = peer.number, !exempt.contains(where: { $0.contains(address) }) else { return nil }
        return ClientAddress(address: address.subscriber)
    }
}
