internal import CFreshetTLS
internal import Glibc

/// The certificates and settings of a server, for any number of sessions. A reload makes another one; sessions keep
/// theirs.
///
/// `@unchecked Sendable`: it does not change once it is made. OpenSSL makes sessions of one context on any thread, and
/// calls back on the thread that uses the session: https://docs.openssl.org/3.0/man7/openssl-threads/.
package final class TLSContext: @unchecked Sendable {
    /// One for each certificate, in their order; tickets of all are sealed by the first.
    private var contexts: [OpaquePointer] = []
    private let certificates: [Certificate]
    /// The time at which the first certificate ends, in seconds since 1970.
    package let end: Int64
    /// The file of the certificate that ends first.
    package let firstToEnd: String

    /// Reads and checks all files. Blocks on the disk.
    ///
    /// - Parameter now: seconds since 1970.
    package convenience init(_ settings: TLSSettings, now: Int64) throws(TLSError) {
        var certificates: [Certificate] = []
        for files in settings.certificates { certificates.append(try Certificate(files, now: now)) }
        try self.init(certificates, settings.clientAuthority.map(ClientAuthority.file))
    }

    /// Where the certificates of a client authority are.
    private enum ClientAuthority {
        case file(String)
        /// A context that has read them.
        case context(OpaquePointer)
    }

    /// Stands for the certificates that sign those of clients, in any order; `nil` if clients need none.
    package private(set) var authority: String?

    private init(_ certificates: [Certificate], _ clientAuthority: ClientAuthority?) throws(TLSError) {
        guard let first = certificates.min(by: { $0.end < $1.end }) else { throw .noCertificates }
        (end, firstToEnd) = (first.end, first.files.chain)
        self.certificates = certificates
        for certificate in certificates {
            // The file is read once, so that all contexts have the same content of it.
            contexts.append(try makeContext(certificate, clientAuthority.map { contexts.first.map(ClientAuthority.context) ?? $0 }))
        }
        if clientAuthority != nil { authority = try Self.digest(ofAuthorityOf: pointer) }
    }

    deinit { for context in contexts { SSL_CTX_free(context) } }

    /// The same certificates, and those of the client authority, with new keys for session tickets. Reads no file.
    package func withNewTicketKeys() throws(TLSError) -> TLSContext {
        try TLSContext(certificates, authority == nil ? nil : .context(pointer))
    }

    /// Whether clients receive the same certificates from both.
    func hasSameChains(as other: TLSContext) -> Bool {
        certificates.elementsEqual(other.certificates) { $0.hasSameChain(as: $1) }
    }

    /// For clients that name no server, or one without a certificate.
    var pointer: OpaquePointer { contexts[0] }

    private func makeContext(_ certificate: Certificate, _ clientAuthority: ClientAuthority?) throws(TLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .failed(Self.reason()) }
        do throws(TLSError) {
            guard freshet_tls_configure(context) == 1 else { throw .failed(Self.reason()) }
            guard SSL_CTX_use_certificate(context, certificate.leaf) == 1 else {
                throw .refused(path: certificate.files.chain, reason: Self.reason())
            }
            for signer in certificate.signers where freshet_tls_add_chain(context, signer) != 1 {
                throw .refused(path: certificate.files.chain, reason: Self.reason())
            }
            guard SSL_CTX_use_PrivateKey(context, certificate.key) == 1 else {
                throw .refused(path: certificate.files.key, reason: Self.reason())
            }
            if let clientAuthority { try Self.demandCertificates(signedBy: clientAuthority, context) }
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        // Sessions keep this object for as long as OpenSSL may call back.
        freshet_tls_on_server_name(
            context,
            { session, _, argument in
                guard let session, let argument else { return SSL_TLSEXT_ERR_NOACK }
                return Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue().select(session)
            }, Unmanaged.passUnretained(self).toOpaque())
        SSL_CTX_set_alpn_select_cb(
            context, { _, chosen, length, offered, count, _ in TLSContext.select(chosen, length, offered, count) }, nil)
        return context
    }

    /// The most bytes of the certificates that a client presents, which the session keeps as long as it lives.
    private static let mostCertificateBytes = 32 << 10

    private static func demandCertificates(signedBy authority: ClientAuthority, _ context: OpaquePointer) throws(TLSError) {
        switch authority {
        case .file(let path):
            guard access(path, R_OK) == 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
            guard SSL_CTX_load_verify_file(context, path) == 1, let names = SSL_load_client_CA_file(path) else {
                throw .noCertificate(path: path)
            }
            SSL_CTX_set_client_CA_list(context, names)
        case .context(let other):
            guard let names = SSL_dup_CA_list(SSL_CTX_get_client_CA_list(other)) else { throw .failed("out of memory") }
            SSL_CTX_set_client_CA_list(context, names)
            SSL_CTX_set1_cert_store(context, SSL_CTX_get_cert_store(other))
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, mostCertificateBytes, nil)
    }

    private static func digest(ofAuthorityOf context: OpaquePointer) throws(TLSError) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard freshet_tls_authority_digest(context, &digest) == 1 else { throw .failed(reason()) }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Whether the authority of clients has signed a certificate that is valid now, by the rules of a handshake.
    ///
    /// - Parameter chain: the certificates that the client has sent with it.
    func trusts(_ certificate: OpaquePointer, _ chain: OpaquePointer?) -> Bool {
        guard authority != nil, let check = X509_STORE_CTX_new() else { return false }
        defer {
            X509_STORE_CTX_free(check)
            ERR_clear_error()
        }
        guard X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(pointer), certificate, chain) == 1,
            X509_STORE_CTX_set_default(check, "ssl_client") == 1
        else { return false }
        X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(check), SSL_CTX_get_security_level(pointer))
        return X509_verify_cert(check) == 1
    }

    /// Presents the certificate of the server that the client names (RFC 6066 §3).
    private func select(_ session: OpaquePointer) -> Int32 {
        guard contexts.count > 1, let name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name),
            let index = certificates.firstIndex(where: { $0.isFor(name) })
        else { return SSL_TLSEXT_ERR_NOACK }
        SSL_set_SSL_CTX(session, contexts[index])
        return SSL_TLSEXT_ERR_OK
    }

    /// Chooses `http/1.1` of the protocols that a client offers (RFC 7301), and refuses a client that offers only others.
    private static func select(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?, _ count: UInt32
    ) -> Int32 {
        let offers = UnsafeBufferPointer(start: offered, count: Int(count))
        var start = 0
        while start < offers.count {
            let end = start + 1 + Int(offers[start])
            guard end <= offers.count else { break }
            if offers[start + 1..<end].elementsEqual("http/1.1".utf8) {
                chosen?.pointee = offered?.advanced(by: start + 1)
                length?.pointee = offers[start]
                return SSL_TLSEXT_ERR_OK
            }
            start = end
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    /// The first of OpenSSL's errors of this thread, for a person; empties their queue.
    static func reason() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "no reason given" }
        return ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
