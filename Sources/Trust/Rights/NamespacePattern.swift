package import FreshetWire

/// The namespaces of a grant: one, those whose names begin with a text, or all.
package enum NamespacePattern: Hashable, Sendable, CustomStringConvertible {
    case namespace(Namespace)
    case prefix(String)
    case all

    /// Reads `name`, `prefix*` or `*`.
    /// - Throws: ``WireError/invalidNamespace(_:)``.
    package init(_ text: String) throws(WireError) {
        switch text {
        case "*": self = .all
        case _ where text.utf8.last == UInt8(ascii: "*"): self = .prefix(try Namespace(String(Substring(text.utf8.dropLast()))).name)
        default: self = .namespace(try Namespace(text))
        }
    }

    package func matches(_ namespace: Namespace) -> Bool {
        switch self {
        case .namespace(let own): own == namespace
        case .prefix(let prefix): namespace.name.utf8.starts(with: prefix.utf8)
        case .all: true
        }
    }

    /// What the names begin with.
    package var prefix: String {
        switch self {
        case .namespace(let namespace): namespace.name
        case .prefix(let prefix): prefix
        case .all: ""
        }
    }

    package var description: String {
        switch self {
        case .namespace(let namespace): namespace.name
        case .prefix(let prefix): "\(prefix)*"
        case .all: "*"
        }
    }
}
