internal import FreshetPlatform

/// Why certificates cannot be used. Each description says what to do.
package enum TLSError: Error, Hashable, Sendable {
    /// The file cannot be read.
    case unreadable(path: String, reason: String)
    /// The file has no certificate in PEM.
    case noCertificate(path: String)
    /// A certificate in the file is damaged, or cut off.
    case damaged(path: String, reason: String)
    /// The file has no private key in PEM, or a damaged one.
    case noKey(path: String)
    /// The private key needs a passphrase.
    case encryptedKey(path: String)
    /// The key belongs to another certificate.
    case keyMismatch(certificate: String, key: String)
    /// OpenSSL refuses the certificate or the key, for example because it is too weak.
    case refused(path: String, reason: String)
    /// The certificate was valid until `end`, in seconds since 1970.
    case expired(path: String, end: Int64)
    /// The certificate is valid from `start` on, in seconds since 1970.
    case notYetValid(path: String, start: Int64)
    /// There are no certificates.
    case noCertificates
    /// OpenSSL failed, for example for lack of memory.
    case failed(String)
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path) cannot be read (\(reason)): name a file that this user may read"
        case .noCertificate(let path):
            "\(path) has no certificate in PEM: name the file with the server's certificate, followed by those that signed it"
        case .damaged(let path, let reason):
            "a certificate in \(path) is damaged or cut off (\(reason)): write the file again, with the server's certificate and those that signed it"
        case .noKey(let path): "\(path) has no private key in PEM: name the file of the certificate's key"
        case .encryptedKey(let path):
            "\(path) needs a passphrase, which a server cannot type: decrypt it with `openssl pkey -in \(path) -out FILE`, and give FILE mode 0600"
        case .keyMismatch(let certificate, let key):
            "\(key) is not the key of the first certificate in \(certificate): name the key with which that certificate was requested"
        case .refused(let path, let reason):
            "OpenSSL refuses \(path) (\(reason)): use a key of ECDSA P-256, or of RSA with 2048 bits or more"
        case .expired(let path, let end): "the certificate in \(path) expired on \(Self.day(end)): renew it"
        case .notYetValid(let path, let start):
            "the certificate in \(path) is valid from \(Self.day(start)) on: correct this machine's clock, or wait"
        case .noCertificates: "there is no certificate: name at least one, with its key"
        case .failed(let text): "TLS is not available: \(text)"
        }
    }

    private static func day(_ seconds: Int64) -> String { HTTPDate(seconds: seconds).description }
}
