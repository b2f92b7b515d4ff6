internal import FreshetWire

/// Bytes that nothing may show: a token, or a part of one. Every description and reflection is `•••`. It has no `==`,
/// and is not `Encodable`.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The bytes, for a digest, or to show a new key once.
    package let exposed: [UInt8]

    package init(_ bytes: [UInt8]) { exposed = bytes }

    /// Compares in a time that depends on the lengths only.
    package func matches(_ other: Secret) -> Bool { ConstantTime.areEqual(exposed, other.exposed) }

    package var description: String { "•••" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
