/// The content of `freshet.json`.
package struct Configuration: Sendable {
    /// The most bytes of a file.
    package static let maximumBytes = 1 << 20

    /// An address to listen on.
    package struct Listener: Hashable, Sendable {
        /// A name, an IPv4 address or an IPv6 address without brackets.
        package let host: String
        /// 0 takes a free port.
        package let port: UInt16
        /// The certificates; empty if the listener does not use TLS. The first one is for clients that name no other.
        package let certificates: [Certificate]
        /// The path of the certificates that sign those of the clients; `nil` for clients without a certificate.
        package let clientAuthority: String?
        /// The role of a client's certificate, in which `{sub}` stands for its name; `nil` if certificates give no rights.
        package let clientRole: String?
    }

    /// The files of a certificate.
    package struct Certificate: Hashable, Sendable {
        /// The path of the chain, in PEM.
        package let chain: String
        /// The path of the private key, in PEM.
        package let key: String
    }

    /// Where operators connect.
    package enum AdminListener: Hashable, Sendable {
        /// The path of a Unix socket.
        case socket(String)
        case address(Listener)
    }

    /// Where an issuer's keys are.
    package enum KeySource: Hashable, Sendable {
        /// The URL of a JWK Set.
        case url(String)
        /// The path of a JWK Set.
        case file(String)
        /// The path of a secret for HS256.
        case secret(String)
    }

    /// An issuer and its keys.
    package struct IssuerEntry: Hashable, Sendable {
        package let issuer: Issuer
        package let keys: KeySource
    }

    /// The checks of names and addresses that the server applies too.
    package struct Rules: Sendable {
        let isHostName: @Sendable (String) -> Bool
        let isOrigin: @Sendable (String) -> Bool
        let isNetwork: @Sendable (String) -> Bool

        package init(
            isHostName: @escaping @Sendable (String) -> Bool, isOrigin: @escaping @Sendable (String) -> Bool,
            isNetwork: @escaping @Sendable (String) -> Bool
        ) {
            (self.isHostName, self.isOrigin, self.isNetwork) = (isHostName, isOrigin, isNetwork)
        }
    }

    package internal(set) var listeners: [Listener] = []
    package internal(set) var admin: AdminListener?
    package internal(set) var hosts: [String] = []
    package internal(set) var origins: [String] = []
    package internal(set) var proxies: [String] = []
    package internal(set) var issuers: [IssuerEntry] = []
    package internal(set) var roles: [String: Role] = [:]
    /// The rights of requests without a credential.
    package internal(set) var anonymous = Rights.none
    package internal(set) var quotas = Quotas()
    /// The path of the audit log.
    package internal(set) var audit: String?
    /// Whether the server stops if it cannot write the audit log.
    package internal(set) var isAuditRequired = false

    /// The verifier of the issuers' tokens, in the order of ``issuers``.
    package var verifier: TokenVerifier { TokenVerifier(issuers: issuers.map(\.issuer), roles: roles) }

    /// The longest life of any issuer's token, in milliseconds: so long are revocations kept.
    package var longest: Int64 { (issuers.map(\.issuer.longest).max() ?? 0) * 1_000 }
}
