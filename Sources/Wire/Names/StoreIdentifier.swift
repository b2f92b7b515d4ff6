/// A token that names one store, whatever its address: `[a-z0-9]{1,32}`.
///
/// A server makes it once and keeps it with its records, so a restart, another address or a restored back-up does not change it.
package struct StoreIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The token as it is on the wire.
    package let token: String

    /// `nil` unless the token is 1 to 32 lower-case letters and digits.
    package init?(_ token: String) {
        guard let epoch = Epoch(token) else { return nil }
        self.init(epoch)
    }

    /// A token of 13 characters made of 64 bits, in base 32.
    package init(bits: UInt64) { self.init(Epoch(bits: bits)) }

    private init(_ epoch: Epoch) { token = epoch.token }

    /// The identifier of every server that keeps its records in memory. It is shorter than a token made of bits, so it
    /// never equals one.
    package static let memory = StoreIdentifier("memory") ?? StoreIdentifier(bits: 0)

    /// The token itself.
    package var description: String { token }
}
