package import FreshetWire

/// Derives the epochs that clients see from what a store keeps.
///
/// A namespace keeps its `base`, and the store one `token` for all. So one update of the token gives every namespace a new
/// epoch. The token is random and not counted: two copies of a store that both renew it must not arrive at the same epochs.
/// A store without a token, whose value is then 0, has its bases as epochs.
package struct EpochRule: Hashable, Sendable {
    private let source: EpochSource
    private let token: Int64

    package init(seed: Int64, token: Int64) {
        source = EpochSource(seed: UInt64(bitPattern: seed))
        self.token = token
    }

    /// The base of a namespace that no write has made yet.
    package func base(of namespace: Namespace, generation: Int64) -> Epoch { source.epoch(of: namespace, generation: generation) }

    /// The epoch of a namespace with this base.
    package func epoch(_ base: Epoch) -> Epoch {
        guard token != 0 else { return base }
        let start = EpochSource.mix(UInt64(bitPattern: token))
        return Epoch(bits: base.token.utf8.reduce(start) { EpochSource.mix($0 ^ UInt64($1)) })
    }
}
