// The one place that may use what the standard library reserves for itself (scripts/check-structure): it has no public
// normalisation, full Foundation makes a static program 49 MB larger, and tables of Unicode here would differ from those
// by which `==` compares strings (docs/decisions/0027-two-tier-cache.md).
@_spi(_Unicode) import Swift

/// A form of strings by which two have the same bytes exactly if Swift's `==` considers them equal.
enum CanonicalText {
    /// The UTF-8 of the canonical decomposition (NFD). O(length); a string of ASCII is copied as it is.
    static func bytes(_ text: String) -> [UInt8] {
        if isASCII(text) { return Array(text.utf8) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text._nfd { bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter) }
        return bytes
    }

    /// Whether the bytes of a string begin with these, without an allocation if it is ASCII.
    static func bytes(_ text: String, startWith prefix: [UInt8]) -> Bool {
        isASCII(text) ? text.utf8.starts(with: prefix) : bytes(text).starts(with: prefix)
    }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
}
