extension Unicode.Scalar {
    /// Whether the character controls a terminal, breaks a line or reorders text: the controls C0, DEL and C1, those of
    /// bidirectional text, and the line and paragraph separators.
    package var commandsTerminal: Bool {
        switch value {
        case 0...0x1F, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
