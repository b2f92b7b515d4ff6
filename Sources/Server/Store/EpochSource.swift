package import FreshetWire

/// Derives epochs from a store's random seed.
///
/// A namespace that no write has made yet must have an epoch already: a client that waits for its first write holds a
/// cursor with that epoch. So the token is derived from the name, and the first write adopts it. Dropping a namespace
/// raises the generation that enters the derivation. Generations are kept by a few thousand buckets of names, so that
/// they do not grow without bound, and a drop does not end the waits in all other unmade namespaces.
package struct EpochSource: Hashable, Sendable {
    package static let buckets: Int64 = 4_096

    package let seed: UInt64

    package init(seed: UInt64) { self.seed = seed }

    /// The bucket that counts the drops of this name and its neighbours.
    package static func bucket(of namespace: Namespace) -> Int64 {
        Int64(mix(hash(namespace, from: 0)) % UInt64(buckets))
    }

    package func epoch(of namespace: Namespace, generation: Int64) -> Epoch {
        let start = Self.mix(seed ^ Self.mix(UInt64(bitPattern: generation)))
        return Epoch(bits: Self.mix(Self.hash(namespace, from: start)))
    }

    /// FNV-1a.
    private static func hash(_ namespace: Namespace, from start: UInt64) -> UInt64 {
        namespace.name.utf8.reduce(start ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    /// The finalizer of SplitMix64: every bit of the input changes half of the output's.
    package static func mix(_ value: UInt64) -> UInt64 {
        var value = value &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
