internal import CFreshetTLS
package import FreshetSocketHTTP

/// The server's side of one TLS connection: ciphertext in and out, plaintext in and out, no socket.
///
/// OpenSSL reads and writes through a BIO over the bytes of the call, so an idle session has no buffers. Not
/// `Sendable`: one thread at a time may use it.
package final class TLSSession: ByteLayer {
    /// The certificates, whose callbacks OpenSSL calls with an unretained reference.
    private let context: TLSContext
    private let session: OpaquePointer
    /// The bytes of the current call that OpenSSL has not read yet.
    private var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The bytes that OpenSSL has written in the current call.
    private var output: [UInt8] = []
    private var hasBegun = false
    /// Whether the client's first message was understood, and answered.
    private var hasReplied = false
    private var hasFailed = false
    package private(set) var isHandshaking = true
    /// ``messageCost`` for each handshake message that has arrived after the handshake, less the bytes of data since then.
    private var messageDebt = 0
    /// The bytes of data that make up for a message: an update of the keys takes longer than their decryption.
    private static let messageCost = 2 << 10
    /// That of 32 messages. Peers update their keys after gigabytes, or hours.
    private static let mostMessageDebt = 32 * messageCost

    /// - Parameter server: the one that has made it, whose context may be exchanged.
    /// - Returns: `nil` if memory has run out.
    package init?(_ context: TLSContext, of server: TLSServer? = nil) {
        guard let method = Self.method, let session = SSL_new(context.pointer) else { return nil }
        guard let bio = BIO_new(method) else {
            SSL_free(session)
            return nil
        }
        self.context = context
        (self.server, judge, authority) = (server, context, context.authority)
        self.session = session
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        // The session owns the BIO from here on.
        SSL_set_bio(session, bio, bio)
        SSL_set_accept_state(session)
    }

    deinit { SSL_free(session) }

    /// What OpenSSL allocates for a record, from its first byte on. `RB`: the header has arrived, and the body has not.
    ///
    /// During the handshake it has a buffer for messages too. A client's first message may state up to 128 KiB, which OpenSSL
    /// allocates at once.
    package var heldBytes: Int {
        guard !isHandshaking else { return !hasBegun ? 0 : hasReplied ? Self.handshakeBytes : Self.helloBytes }
        // A message of a renegotiation, which is refused once it is complete, may state as many bytes as a first one.
        if SSL_in_init(session) == 1 { return Self.helloBytes }
        let isPartial = SSL_has_pending(session) == 1 || SSL_rstate_string(session)[1] == CChar(UInt8(ascii: "B"))
        return isPartial ? 17 << 10 : 0
    }

    /// Measured: a session whose first message is incomplete, with the longest length and with a usual one.
    private static let helloBytes = 156 << 10
    private static let handshakeBytes = 42 << 10

    /// The protocol's version, such as `TLSv1.3`.
    package var version: String { String(cString: SSL_get_version(session)) }

    /// Whether the peer has resumed an earlier session by a ticket.
    package var isResumed: Bool { SSL_session_reused(session) == 1 }

    /// That of this handshake, or of the session that it resumes, whose ticket has the certificate.
    package var clientCertificate: ClientCertificate? {
        judgeCertificate()
        if let presented { return presented }
        guard let authority, let certificate = SSL_get0_peer_certificate(session) else { return nil }
        presented = ClientCertificate(certificate, signedBy: authority)
        return presented
    }

    /// Whether the server has another authority of clients now, which has not signed the client's certificate. Or it has, and
    /// the session was resumed: tickets do not have the certificates between both.
    package var isOutdated: Bool {
        judgeCertificate()
        return !isTrusted
    }

    /// Where the present context is; `nil` if there is only one.
    private let server: TLSServer?
    /// The context by which the client's certificate was judged last: first that of the handshake.
    private var judge: TLSContext
    /// The number of the server's context that was looked at last; 0 before the first look.
    private var judgeNumber = 0
    /// That of the latest context that has trusted the certificate; `nil` if clients need none.
    private var authority: String?
    private var isTrusted = true
    private var presented: ClientCertificate?

    private func judgeCertificate() {
        guard authority != nil, let server, case let number = server.contextNumber, number != judgeNumber else { return }
        // The context is at least as new as the number: the next call looks again if another was made in between.
        judgeNumber = number
        let present = server.context
        guard present !== judge else { return }
        judge = present
        // Most contexts are made for other certificates of the server, or other keys of tickets.
        guard present.authority != authority else { return isTrusted = true }
        isTrusted = SSL_get0_peer_certificate(session).map { present.trusts($0, SSL_get_peer_cert_chain(session)) } ?? false
        if isTrusted { (self.authority, presented) = (present.authority, nil) }
    }

    package func receive(
        _ bytes: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer, sending output: inout [UInt8]
    ) -> ByteLayerInput {
        guard !hasFailed else { return ByteLayerInput(end: .failed("the session has failed before")) }
        if !hasBegun, let first = bytes.first {
            // A TLS record begins with its type, 20 to 24, and HTTP with a letter.
            if (UInt8(ascii: "A")...UInt8(ascii: "z")).contains(first) { return ByteLayerInput(end: .plaintext) }
            hasBegun = true
        }
        input = bytes
        swap(&self.output, &output)
        defer {
            swap(&self.output, &output)
            input = UnsafeRawBufferPointer(start: nil, count: 0)
        }
        if isHandshaking {
            ERR_clear_error()
            let earlier = self.output.count
            let result = SSL_do_handshake(session)
            hasReplied = hasReplied || self.output.count > earlier
            guard result == 1 else { return ByteLayerInput(end: end(result)) }
            isHandshaking = false
            SSL_set_msg_callback(session) { isSent, _, kind, _, _, session, _ in
                if isSent == 0, kind == SSL3_RT_HANDSHAKE { TLSSession.session(of: SSL_get_rbio(session))?.countMessage() }
            }
        }
        return decrypt(into: plaintext)
    }

    private func decrypt(into plaintext: UnsafeMutableRawBufferPointer) -> ByteLayerInput {
        var count = 0
        while !input.isEmpty || SSL_pending(session) > 0 {
            let rest = UnsafeMutableRawBufferPointer(rebasing: plaintext[count...])
            guard !rest.isEmpty else { return ByteLayerInput(count: count, end: fail("a record exceeds its bound")) }
            var read = 0
            ERR_clear_error()
            let result = SSL_read_ex(session, rest.baseAddress, rest.count, &read)
            count += read
            guard messageDebt <= Self.mostMessageDebt else {
                return ByteLayerInput(count: count, end: fail("too many key updates or renegotiations"))
            }
            messageDebt = max(0, messageDebt - read)
            if result != 1, let end = end(result) { return ByteLayerInput(count: count, end: end) }
        }
        return ByteLayerInput(count: count)
    }

    /// Counts a handshake message that has arrived after the handshake: an update of the keys, or a renegotiation.
    ///
    /// OpenSSL handles all messages that it can read within one call, so beyond the bound it gets no more input.
    private func countMessage() {
        messageDebt += Self.messageCost
        if messageDebt > Self.mostMessageDebt { input = UnsafeRawBufferPointer(start: nil, count: 0) }
    }

    package func send(_ bytes: UnsafeRawBufferPointer, sending output: inout [UInt8]) -> Bool {
        guard !hasFailed, !isHandshaking else { return false }
        guard !bytes.isEmpty else { return true }
        swap(&self.output, &output)
        defer { swap(&self.output, &output) }
        var written = 0
        ERR_clear_error()
        // The BIO takes everything, so this never writes a part.
        guard SSL_write_ex(session, bytes.baseAddress, bytes.count, &written) == 1 else {
            hasFailed = true
            return false
        }
        return true
    }

    package func close(sending output: inout [UInt8]) {
        guard !hasFailed, !isHandshaking else { return }
        swap(&self.output, &output)
        ERR_clear_error()
        SSL_shutdown(session)
        swap(&self.output, &output)
    }

    /// Why the last call of OpenSSL did not succeed; `nil` if it needs more input.
    private func end(_ result: Int32) -> ByteLayerInput.End? {
        switch SSL_get_error(session, result) {
        // OpenSSL asks for input only once it has read all that there is.
        case SSL_ERROR_WANT_READ where input.isEmpty: return nil
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: return fail(TLSContext.reason())
        }
    }

    private func fail(_ reason: String) -> ByteLayerInput.End {
        hasFailed = true
        return .failed(reason)
    }

    // MARK: The BIO

    /// The functions of a BIO whose data is a session. Made once and then only read, which OpenSSL allows on any
    /// thread.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "freshet") else { return nil }
        BIO_meth_set_read_ex(method) { bio, bytes, count, read in TLSSession.read(bio, bytes, count, read) }
        BIO_meth_set_write_ex(method) { bio, bytes, count, written in TLSSession.write(bio, bytes, count, written) }
        // Flushing has no work to do, and no other control is known.
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return method
    }()

    /// The session of a BIO. OpenSSL calls a BIO only within its calls on the session that owns it.
    private static func session(of bio: OpaquePointer?) -> TLSSession? {
        BIO_get_data(bio).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func read(
        _ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ read: UnsafeMutablePointer<Int>?
    ) -> Int32 {
        freshet_bio_clear_retry(bio)
        guard let session = session(of: bio), let bytes, let read else { return 0 }
        let taken = min(count, session.input.count)
        guard taken > 0 else {
            freshet_bio_retry_read(bio)
            return 0
        }
        UnsafeMutableRawBufferPointer(start: bytes, count: taken).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: session.input[..<taken]))
        session.input = UnsafeRawBufferPointer(rebasing: session.input[taken...])
        read.pointee = taken
        return 1
    }

    private static func write(
        _ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int, _ written: UnsafeMutablePointer<Int>?
    ) -> Int32 {
        freshet_bio_clear_retry(bio)
        guard let session = session(of: bio), let written else { return 0 }
        session.output.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        written.pointee = count
        return 1
    }
}
