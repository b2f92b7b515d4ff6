internal import FreshetPlatform

extension RecordServerConfiguration {
    /// The configuration with the paths of the data, the audit log, the admin socket and all certificates made absolute. They are
    /// used for as long as the server runs: certificates and the audit log are opened again, and the socket is removed at the end.
    ///
    /// - Throws: `invalidConfiguration` for a path that cannot be used.
    func withAbsolutePaths() throws(RecordServerError) -> RecordServerConfiguration {
        var other = self
        if case .directory(let path) = storage { other.storage = .directory(try Self.absolute(path, "the data directory")) }
        other.auditLog = try auditLog.map { path throws(RecordServerError) in try Self.absolute(path, "the audit log") }
        other.adminSocket = try adminSocket.map { path throws(RecordServerError) in try Self.absolute(path, "the admin socket") }
        other.tls = try tls.map { tls throws(RecordServerError) in try Self.absolute(tls) }
        other.otherListeners = try otherListeners.map { listener throws(RecordServerError) in try Self.absolute(listener) }
        other.adminListener = try adminListener.map { listener throws(RecordServerError) in try Self.absolute(listener) }
        return other
    }

    private static func absolute(_ listener: Listener) throws(RecordServerError) -> Listener {
        var other = listener
        other.tls = try listener.tls.map { tls throws(RecordServerError) in try absolute(tls) }
        return other
    }

    private static func absolute(_ tls: TLS) throws(RecordServerError) -> TLS {
        TLS(
            certificates: try tls.certificates.map { files throws(RecordServerError) in
                TLS.Certificate(chain: try absolute(files.chain, "the certificate"), key: try absolute(files.key, "the certificate's key"))
            },
            clientAuthority: try tls.clientAuthority.map { path throws(RecordServerError) in
                try absolute(path, "the authority of clients")
            })
    }

    private static func absolute(_ path: String, _ name: String) throws(RecordServerError) -> String {
        do throws(AbsolutePath.Failure) { return try AbsolutePath(path).text } catch {
            throw .invalidConfiguration("\(name) '\(path)' \(error)")
        }
    }
}
