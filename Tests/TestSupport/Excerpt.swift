/// The part of a text between two marks, the first of them first; `nil` if a mark is missing.
public func excerpt(of text: String, from start: String, to end: String) -> String? {
    guard let begin = text.firstRange(of: start), let close = text[begin.upperBound...].firstRange(of: end) else { return nil }
    return String(text[begin.upperBound..<close.lowerBound])
}

/// The lines of a function's body as a page shows them, without the four spaces before each.
public func unindented(_ lines: String) -> String {
    lines.split(separator: "\n", omittingEmptySubsequences: false).map { $0.hasPrefix("    ") ? $0.dropFirst(4) : $0 }.joined(
        separator: "\n")
}
