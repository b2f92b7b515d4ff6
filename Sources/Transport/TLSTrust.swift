package import FreshetPlatform
internal import Glibc

/// Whom requests over TLS trust, and who they are.
package struct TLSTrust: Hashable, Sendable {
    /// A certificate and its key, files in PEM, which libcurl reads for each connection.
    package struct Identity: Hashable, Sendable {
        package let certificate: AbsolutePath
        package let key: AbsolutePath

        package init(certificate: AbsolutePath, key: AbsolutePath) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// A file of certificates that replaces those of the system.
    package var authority: AbsolutePath?
    /// For servers that demand a certificate.
    package var identity: Identity?
    /// The keys that a server may have, `sha256//` and a digest in base64; empty for any.
    package var pinnedKeys: [String] = []

    package init() {}

    /// The first mistake, with advice. Reads the attributes of the files.
    package var mistake: String? {
        for path in [authority, identity?.certificate, identity?.key].compactMap({ $0 }) where access(path.text, R_OK) != 0 {
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
