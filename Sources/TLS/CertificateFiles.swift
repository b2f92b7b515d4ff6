/// The files of a certificate, both in PEM.
package struct CertificateFiles: Hashable, Sendable {
    /// The path of the server's certificate, followed in the file by those that signed it.
    package var chain: String
    /// The path of its private key.
    package var key: String

    package init(chain: String, key: String) {
        self.chain = chain
        self.key = key
    }
}

/// What a server presents to its clients, and what it demands of them.
package struct TLSSettings: Hashable, Sendable {
    /// At least one. A client that names a server gets the first certificate for that name, and any other client the
    /// first of all.
    package var certificates: [CertificateFiles]
    /// A file of certificates in PEM. If it is set, each client must present a certificate that one of them signed.
    package var clientAuthority: String?

    package init(certificates: [CertificateFiles], clientAuthority: String? = nil) {
        self.certificates = certificates
        self.clientAuthority = clientAuthority
    }
}
