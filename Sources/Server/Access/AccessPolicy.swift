import FreshetTrust

/// Who may use a server besides the holders of its keys. It can be replaced while the server runs.
struct AccessPolicy: Sendable {
    /// The hosts and origins of requests.
    var rules = AccessRules()
    /// The rights of requests without a credential.
    var anonymous = Rights.none
}
