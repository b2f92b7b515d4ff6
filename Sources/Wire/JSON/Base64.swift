import FoundationEssentials

/// RFC 4648 §4, with padding.
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// `nil` for anything but well-formed base64.
    package static func decode(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }
}
