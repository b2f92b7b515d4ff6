internal import CFreshetTLS
internal import Glibc

/// A certificate with its chain and its key, read from files and checked.
final class Certificate {
    let files: CertificateFiles
    /// The server's own certificate.
    let leaf: OpaquePointer
    /// The certificates that signed it, in the order of the file.
    private(set) var signers: [OpaquePointer] = []
    let key: OpaquePointer
    /// When it ends, in seconds since 1970.
    let end: Int64

    /// - Parameter now: seconds since 1970.
    init(_ files: CertificateFiles, now: Int64) throws(TLSError) {
        self.files = files
        let chain = try PEM(files.chain)
        guard let leaf = try chain.nextCertificate() else { throw .noCertificate(path: files.chain) }
        self.leaf = leaf
        do throws(TLSError) {
            key = try PEM(files.key).privateKey()
        } catch {
            X509_free(leaf)
            throw error
        }
        guard let start = Self.seconds(X509_get0_notBefore(leaf)), let end = Self.seconds(X509_get0_notAfter(leaf)) else {
            self.end = 0
            throw .noCertificate(path: files.chain)
        }
        self.end = end
        while let signer = try chain.nextCertificate() { signers.append(signer) }
        guard X509_check_private_key(leaf, key) == 1 else { throw .keyMismatch(certificate: files.chain, key: files.key) }
        guard start <= now else { throw .notYetValid(path: files.chain, start: start) }
        guard end > now else { throw .expired(path: files.chain, end: end) }
    }

    deinit {
        X509_free(leaf)
        for signer in signers { X509_free(signer) }
        EVP_PKEY_free(key)
    }

    /// Whether clients receive the same certificates. The keys of equal ones are equal.
    func hasSameChain(as other: Certificate) -> Bool {
        X509_cmp(leaf, other.leaf) == 0 && signers.elementsEqual(other.signers) { X509_cmp($0, $1) == 0 }
    }

    /// Whether the certificate is for the host of a name, by its alternative names, or else its common name.
    func isFor(_ name: UnsafePointer<CChar>) -> Bool {
        X509_check_host(leaf, name, strlen(name), UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS), nil) == 1
    }

    /// Seconds since 1970.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(timegm(&parts))
    }
}

/// The content of a file in PEM.
private final class PEM {
    private static let mostBytes = 1 << 20

    private let path: String
    private let bio: OpaquePointer

    init(_ path: String) throws(TLSError) {
        self.path = path
        let bytes = try Self.read(path)
        // The BIO keeps a copy, which the key's file overwrites when it is freed.
        guard let bio = BIO_new(BIO_s_secmem()) else { throw .failed("out of memory") }
        self.bio = bio
        let isCopied = bytes.isEmpty || BIO_write(bio, bytes, Int32(bytes.count)) == Int32(bytes.count)
        guard isCopied else { throw .failed("out of memory") }
    }

    deinit { BIO_free(bio) }

    /// The caller owns the certificate; `nil` behind the last one.
    func nextCertificate() throws(TLSError) -> OpaquePointer? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        if let certificate = PEM_read_bio_X509(bio, nil, nil, nil) { return certificate }
        // A chain that lacks a certificate would be refused by the clients, and not here.
        guard freshet_error_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
            throw .damaged(path: path, reason: TLSContext.reason())
        }
        return nil
    }

    /// The caller owns the key.
    func privateKey() throws(TLSError) -> OpaquePointer {
        var isEncrypted = false
        // By default OpenSSL would ask the terminal for the passphrase.
        let key = PEM_read_bio_PrivateKey(
            bio, nil,
            { _, _, _, flag in
                flag?.assumingMemoryBound(to: Bool.self).pointee = true
                return -1
            }, &isEncrypted)
        defer { ERR_clear_error() }
        guard let key else { throw isEncrypted ? .encryptedKey(path: path) : .noKey(path: path) }
        return key
    }

    private static func read(_ path: String) throws(TLSError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= mostBytes else { throw .unreadable(path: path, reason: "it has more than \(mostBytes) bytes") }
        }
    }
}
