import CFreshetTLS

/// A TLS client in memory, over OpenSSL's own BIOs, which shares no code with the server's side.
final class MemoryClient {
    struct SetupFailure: Error {}

    private let context: OpaquePointer
    private let session: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    /// Decrypted bytes, and whether the server has closed in order.
    private(set) var received: [UInt8] = []
    private(set) var isClosed = false
    /// Why OpenSSL failed.
    private(set) var failure: String?

    struct Options {
        /// The name of the server that it asks for.
        var name: String?
        var versions: ClosedRange<Int32> = TLS1_2_VERSION...TLS1_3_VERSION
        /// The groups of the key exchange that it offers, as OpenSSL names them; its default if `nil`.
        var groups: String?
        /// The protocols that it offers by ALPN.
        var protocols: [String] = []
        var identity: (chain: String, key: String)?
        /// A session that it resumes.
        var ticket: OpaquePointer?
    }

    init(trusting authority: String, _ options: Options = Options()) throws {
        guard let context = SSL_CTX_new(TLS_client_method()), SSL_CTX_load_verify_file(context, authority) == 1 else {
            throw SetupFailure()
        }
        self.context = context
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        // Otherwise Debian's configuration refuses to offer the versions that the server has to refuse.
        SSL_CTX_set_security_level(context, 0)
        if let (chain, key) = options.identity {
            guard SSL_CTX_use_certificate_chain_file(context, chain) == 1, SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1
            else { throw SetupFailure() }
        }
        guard let session = SSL_new(context), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            throw SetupFailure()
        }
        (self.session, self.input, self.output) = (session, input, output)
        SSL_set_bio(session, input, output)
        SSL_ctrl(session, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(options.versions.lowerBound), nil)
        SSL_ctrl(session, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(options.versions.upperBound), nil)
        if var groups = options.groups.map({ Array($0.utf8CString) }) {
            guard SSL_ctrl(session, SSL_CTRL_SET_GROUPS_LIST, 0, &groups) == 1 else { throw SetupFailure() }
        }
        if var name = options.name.map({ Array($0.utf8CString) }) {
            SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
            SSL_set1_host(session, name)
        }
        let offers = options.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !offers.isEmpty { SSL_set_alpn_protos(session, offers, UInt32(offers.count)) }
        if let ticket = options.ticket { SSL_set_session(session, ticket) }
        SSL_set_connect_state(session)
    }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    /// Whether the handshake is complete.
    var isConnected: Bool { SSL_is_init_finished(session) == 1 }
    var version: String { String(cString: SSL_get_version(session)) }
    var isResumed: Bool { SSL_session_reused(session) == 1 }
    /// The session with its latest ticket; it lives as long as the process.
    var ticket: OpaquePointer? { SSL_get1_session(session) }
    /// The common name of the server's certificate.
    var serverName: String? {
        guard let certificate = SSL_get0_peer_certificate(session) else { return nil }
        var text = [CChar](repeating: 0, count: 256)
        X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, &text, Int32(text.count))
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    }
    /// The protocol that the server chose by ALPN.
    var chosenProtocol: String {
        var chosen: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &chosen, &count)
        return String(decoding: UnsafeBufferPointer(start: chosen, count: Int(count)), as: UTF8.self)
    }

    /// Takes ciphertext, and continues the handshake or decrypts; returns the ciphertext for the server.
    func receive(_ bytes: [UInt8] = []) -> [UInt8] {
        if !bytes.isEmpty { BIO_write(input, bytes, Int32(bytes.count)) }
        ERR_clear_error()
        if SSL_is_init_finished(session) == 0 {
            note(SSL_do_handshake(session))
        } else {
            var buffer = [UInt8](repeating: 0, count: 20_000)
            var count: Int32 = 0
            repeat {
                count = SSL_read(session, &buffer, Int32(buffer.count))
                if count > 0 { received += buffer[..<Int(count)] }
            } while count > 0
            note(count)
        }
        return ciphertext()
    }

    /// Encrypts bytes.
    func send(_ bytes: [UInt8]) -> [UInt8] {
        note(SSL_write(session, bytes, Int32(bytes.count)))
        return ciphertext()
    }

    /// The notice that no bytes follow.
    func close() -> [UInt8] {
        SSL_shutdown(session)
        return ciphertext()
    }

    /// Asks for new keys, in both directions.
    func updateKeys() -> [UInt8] {
        SSL_key_update(session, SSL_KEY_UPDATE_REQUESTED)
        note(SSL_do_handshake(session))
        return ciphertext()
    }

    /// Asks for a renegotiation, which TLS 1.2 has.
    ///
    /// - Parameter recordBytes: the most bytes of the message in one record.
    func renegotiate(recordBytes: Int = 16 << 10) -> [UInt8] {
        SSL_ctrl(session, SSL_CTRL_SET_SPLIT_SEND_FRAGMENT, recordBytes, nil)
        SSL_renegotiate(session)
        note(SSL_do_handshake(session))
        return ciphertext()
    }

    private func note(_ result: Int32) {
        guard result <= 0 else { return }
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN: isClosed = true
        default: failure = failure ?? ERR_reason_error_string(ERR_get_error()).map { String(cString: $0) } ?? "unknown"
        }
    }

    private func ciphertext() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 20_000)
        while case let count = BIO_read(output, &buffer, Int32(buffer.count)), count > 0 { bytes += buffer[..<Int(count)] }
        return bytes
    }
}
