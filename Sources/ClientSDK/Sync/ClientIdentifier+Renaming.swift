import FreshetWire

extension ClientIdentifier {
    /// Returns a new, unique name for the same device: the first 50 characters of this one, and 13 random letters and
    /// digits.
    func renamed(_ random: UInt64) -> ClientIdentifier {
        let suffix = Epoch(bits: random).token
        // The text has only valid characters, and at most 64 of them, so the name is always valid.
        return (try? ClientIdentifier("\(text.prefix(50)).\(suffix)")) ?? self
    }
}
