extension String {
    /// The text as a message may repeat it: at most 100 Unicode scalars, then an ellipsis. O(1) in the text's length.
    package var shortened: String {
        guard utf8.count > 100, let end = unicodeScalars.index(startIndex, offsetBy: 100, limitedBy: endIndex), end < endIndex else {
            return self
        }
        return self[..<end] + "…"
    }

    /// The text, or as much of its beginning as takes at most `limit` bytes as a JSON string without its quotes, an ellipsis included.
    /// O(limit).
    package func shortened(toJSONBytes limit: Int) -> String {
        // Six is the most that one byte takes: \u0001.
        guard utf8.count > limit / 6 else { return self }
        var (taken, end) = (0, startIndex)
        for index in unicodeScalars.indices {
            taken += unicodeScalars[index].jsonLength
            guard taken <= limit else { return self[..<end] + "…" }
            if taken <= limit - "…".utf8.count { end = unicodeScalars.index(after: index) }
        }
        return self
    }
}

extension Unicode.Scalar {
    /// How many bytes it takes at most in a JSON string.
    fileprivate var jsonLength: Int {
        switch self {
        case "\"", "\\": 2
        case "\0"..<" ": 6
        default: UTF8.width(self)
        }
    }
}
