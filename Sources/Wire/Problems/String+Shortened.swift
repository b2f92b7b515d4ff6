extension String {
    /// The text as a message may repeat it: at most 100 Unicode scalars, then an ellipsis. O(1) in the text's length.
    package var shortened: String {
        guard utf8.count > 100, let end = unicodeScalars.index(startIndex, offsetBy: 100, limitedBy: endIndex), end < endIndex else {
            return self
        }
        return self[..<end] + "…"
    }
}
