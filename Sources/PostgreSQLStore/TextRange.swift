#if PostgreSQL
/// The bounds of the texts that begin with a prefix, in the order of their bytes, which for UTF-8 is the order of their code points.
enum TextRange {
    /// The longest id, in bytes.
    private static let longest = 512
    private static let greatest: Unicode.Scalar = "\u{10FFFF}"

    /// The least text that is above every id that begins with `prefix`.
    ///
    /// PostgreSQL accepts only valid UTF-8, so the bound cannot be the prefix followed by a byte that occurs in no text.
    static func end(ofPrefix prefix: String) -> String {
        var scalars = Array(prefix.unicodeScalars)
        while scalars.last == greatest { scalars.removeLast() }
        guard let last = scalars.popLast(), let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else {
            // Every id is below a longer text of the greatest code point.
            return String(String.UnicodeScalarView(repeatElement(greatest, count: longest / 4 + 1)))
        }
        scalars.append(next)
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }
}
#endif
