/// A place where a server listens.
package struct HTTPListener: Sendable {
    package enum Address: Hashable, Sendable {
        /// An IPv4 or IPv6 address, or a name, and a TCP port; 0 picks a free one.
        case address(host: String, port: Int)
        /// The path of a Unix socket, which only the user of the process may open.
        case socket(path: String)

        /// Refuses a path in a folder where another user may replace the socket, before anything is made there.
        package static func checkFolder(ofSocket path: String) throws(SocketHTTPError) { try SocketFile.checkFolder(of: path) }
    }

    package var place: Address
    /// Encrypts the connections; `nil` leaves them plain.
    package var layers: (any ByteLayerSource)?
    /// Whether it accepts some connections beyond the server's limit, so that an operator is served when clients have
    /// taken them all.
    package var hasReserve: Bool

    package init(_ place: Address, layers: (any ByteLayerSource)? = nil, hasReserve: Bool = false) {
        (self.place, self.layers, self.hasReserve) = (place, layers, hasReserve)
    }
}
