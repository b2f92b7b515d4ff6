/// What a store keeps of access control: a key, the day of its last use, or a revocation. The store does not look into it.
package struct AccessRow: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case key, use, revocation
    }

    package var kind: Kind
    /// Unique among the rows of its kind.
    package var name: String
    /// JSON.
    package var value: [UInt8]

    package init(_ kind: Kind, name: String, value: [UInt8]) {
        self.kind = kind
        self.name = name
        self.value = value
    }
}
