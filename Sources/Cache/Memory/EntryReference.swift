/// The position of an entry: its slot's number above the bits of its shard's.
@usableFromInline
struct EntryReference: Hashable, Sendable {
    @usableFromInline let bits: UInt32

    @inlinable
    init(bits: UInt32) { self.bits = bits }

    @inlinable static var none: EntryReference { EntryReference(bits: .max) }

    @inlinable var isNone: Bool { bits == .max }
}
