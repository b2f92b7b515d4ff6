/// An isolated set of records with its own order of changes: an app, a tenant, one test.
///
/// `[a-z0-9][a-z0-9._-]{0,62}`, checked when made, so that a value of this type is always valid.
package struct Namespace: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name as it stands in paths.
    package let name: String

    /// - Throws: ``WireError/invalidNamespace(_:)``.
    package init(_ name: String) throws(WireError) {
        guard NameRule.isNamespace(name) else { throw .invalidNamespace(name) }
        self.name = name
    }

    /// Is above every character of a name, so a text that is followed by this is above all names that begin with the text.
    package static let aboveAllCharacters = "~"

    /// The name itself.
    package var description: String { name }

    /// By the bytes of the name.
    package static func < (left: Namespace, right: Namespace) -> Bool { left.name < right.name }
}
