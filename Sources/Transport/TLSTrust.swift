internal import Glibc

/// Whom requests over TLS trust, and who they are.
package struct TLSTrust: Hashable, Sendable {
    /// A certificate and its key, paths of files in PEM.
    package struct Identity: Hashable, Sendable {
        package let certificate: String
        package let key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The path of a file of certificates that replaces those of the system.
    package var authority: String?
    /// For servers that demand a certificate.
    package var identity: Identity?
    /// The keys that a server may have, `sha256//` and a digest in base64; empty for any.
    package var pinnedKeys: [String] = []

    package init() {}

    /// The first mistake, with advice. Reads the attributes of the files.
    package var mistake: String? {
        for path in [authority, identity?.certificate, identity?.key].compactMap({ $0 }) where access(path, R_OK) != 0 {
            return "\(path) cannot be read (\(String(cString: strerror(errno)))): name a PEM file that this user may read"
        }
        let pin = pinnedKeys.first { !Self.isPin($0) }
        return pin.map { "'\($0)' is no pinned key: it takes sha256// and the 44 characters of a SHA-256 digest in base64" }
    }

    private static func isPin(_ text: String) -> Bool {
        let digest = text.utf8.dropFirst(8)
        let isDigit: (UInt8) -> Bool = {
            switch $0 {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        return text.hasPrefix("sha256//") && digest.count == 44 && digest.last == UInt8(ascii: "=") && digest.dropLast().allSatisfy(isDigit)
    }
}
