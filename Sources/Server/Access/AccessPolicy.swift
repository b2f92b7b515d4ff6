import FreshetSocketHTTP
package import FreshetTrust

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
    /// In the order of the verifier's issuers.
    var sources: [KeySource] = []
    var fetch: KeyFetch
    /// Only the rates and counts of addresses and principals.
    var quotas: Quotas
    /// Addresses that have the requests of many clients, to which the rates of addresses do not apply.
    var proxies: [AddressRange]
}
