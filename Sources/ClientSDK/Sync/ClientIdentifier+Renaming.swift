import FreshetWire

extension ClientIdentifier {
    /// Another name for the same device, which nobody else has: as much of this one as there is room for, and 13 random letters and digits.
    func renamed(_ random: UInt64) -> ClientIdentifier {
        let suffix = Epoch(bits: random).token
        // All are characters of names, and at most 64 of them, so it is always valid.
        return (try? ClientIdentifier("\(text.prefix(50)).\(suffix)")) ?? self
    }
}
