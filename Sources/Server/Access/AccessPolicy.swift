import FreshetSocketHTTP
package import FreshetTrust
import FreshetWire

/// Who may use a server besides the holders of its keys. It can be replaced while the server runs.
package struct AccessPolicy: Sendable {
    /// Where the keys of an issuer are.
    package enum KeySource: Sendable {
        case fixed(KeySet)
        /// The URL of a JWK Set.
        case url(String)
    }

    /// The hosts and origins of requests.
    var rules = AccessRules()
    /// The rights of requests without a credential.
    var anonymous = Rights.none
    /// The issuers of tokens, and the roles that tokens name.
    var verifier = TokenVerifier(issuers: [], roles: [:])
    /// The roles of client certificates, by the index of the listener that has verified them.
    var certificateRoles: [Int: Role] = [:]
    /// The digests of the present authorities of client certificates, by the index of the listener.
    var authorities: [Int: String] = [:]
    /// In the order of the verifier's issuers.
    var sources: [KeySource] = []
    var fetch: KeyFetch
    /// Only the rates and counts of addresses and principals.
    var quotas: Quotas
    /// Addresses that have the requests of many clients, to which the rates of addresses do not apply.
    var proxies: [AddressRange]

    /// A request's certificate as a credential; `nil` if its listener gives certificates no rights.
    func credential(of certificate: ClientCertificate, from listener: Int) throws(Problem) -> CertificateCredential? {
        guard certificateRoles[listener] != nil else { return nil }
        // A person who revokes names the certificate or the principal, so that none can have the other's form.
        guard let name = certificate.name, !name.hasPrefix(Principal.certificateStart) else { throw AccessProblem.namelessCertificate }
        return CertificateCredential(
            listener: listener, name: name, validFrom: certificate.validFrom, validUntil: certificate.validUntil,
            authority: certificate.authority)
    }
}
