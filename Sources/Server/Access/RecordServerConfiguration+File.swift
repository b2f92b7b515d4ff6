import FreshetSocketHTTP
package import FreshetTrust

extension RecordServerConfiguration {
    /// The checks that `freshet.json` has in common with this type.
    package static let fileRules = Configuration.Rules(
        isHostName: isHostName, isOrigin: isOrigin, isNetwork: { AddressRange($0) != nil })

    /// Takes the settings of a file; those that a file does not have remain. The server then takes requests with a
    /// credential only, except for those that `anonymous` allows.
    ///
    /// - Parameters:
    ///   - sources: the keys of the file's issuers, in their order, with the content of files.
    ///   - fetch: fetches the keys at a URL.
    ///   - resolve: the path of a file that the configuration names.
    /// - Throws: `invalidConfiguration` if there is no address.
    package mutating func take(
        _ file: Configuration, _ sources: [AccessPolicy.KeySource] = [], fetch: KeyFetch? = nil,
        resolve: (String) -> String = { $0 }
    ) throws(RecordServerError) {
        guard let listener = file.listeners.first else { throw .invalidConfiguration("'listen' names no address: state one") }
        let first = Listener(listener, resolve)
        (host, port, tls) = (first.host, first.port, first.tls)
        otherListeners = file.listeners.dropFirst().map { Listener($0, resolve) }
        switch file.admin {
        case nil: (adminSocket, adminListener) = (nil, nil)
        case .socket(let path): (adminSocket, adminListener) = (resolve(path), nil)
        case .address(let address): (adminSocket, adminListener) = (nil, Listener(address, resolve))
        }
        (auditLog, requiresAuditLog) = (file.audit.map(resolve), file.isAuditRequired)
        (hostNames, allowedOrigins) = (file.hosts, file.origins)
        if !file.proxies.isEmpty { trustedProxies = file.proxies.compactMap(AddressRange.init) }
        let quotas = file.quotas
        if let connections = quotas.address.connections { connectionsPerAddress = connections }
        if let bytes = quotas.server.requests { requestMemory = Int(bytes) }
        if let bytes = quotas.server.answers { answerMemory = Int(bytes) }
        if let bytes = quotas.server.feeds { recentTotalBytes = Int(bytes) }
        (requiresKeys, self.quotas) = (true, quotas)
        (anonymous, verifier, keySources) = (file.anonymous, file.verifier, sources)
        certificateRoles = file.listeners.enumerated().reduce(into: [:]) {
            $0[$1.offset] = $1.element.clientRole.flatMap { file.roles[$0] }
        }
        if let fetch { fetchKeys = fetch }
    }

    /// The settings of the other configuration that a running server cannot take.
    func fixedSettings(changedBy other: RecordServerConfiguration) -> [String] {
        let settings: [(String, Bool)] = [
            ("listen", listeners.map(\.place) != other.listeners.map(\.place)),
            ("admin", adminSocket != other.adminSocket || (adminListener == nil) != (other.adminListener == nil)),
            ("proxies", trustedProxies != other.trustedProxies),
            ("audit", auditLog != other.auditLog), ("auditRequired", requiresAuditLog != other.requiresAuditLog),
            ("quotas.address.connections", connectionsPerAddress != other.connectionsPerAddress),
            ("quotas.address.handshakes", quotas.address.handshakes != other.quotas.address.handshakes),
            ("quotas.server.requests", requestMemory != other.requestMemory),
            ("quotas.server.answers", answerMemory != other.answerMemory),
            ("quotas.server.feeds", recentTotalBytes != other.recentTotalBytes),
        ]
        return settings.filter(\.1).map(\.0)
    }
}

extension RecordServerConfiguration.Listener {
    fileprivate init(_ listener: Configuration.Listener, _ resolve: (String) -> String) {
        self.init(host: listener.host, port: Int(listener.port))
        guard !listener.certificates.isEmpty else { return }
        tls = RecordServerConfiguration.TLS(
            certificates: listener.certificates.map { .init(chain: resolve($0.chain), key: resolve($0.key)) },
            clientAuthority: listener.clientAuthority.map(resolve))
    }

    /// What a running server cannot change: where it listens, and whether with TLS.
    fileprivate var place: RecordServerConfiguration.Listener.Binding { Binding(host: host, port: port, isEncrypted: tls != nil) }

    fileprivate struct Binding: Hashable {
        let host: String
        let port: Int
        let isEncrypted: Bool
    }
}
