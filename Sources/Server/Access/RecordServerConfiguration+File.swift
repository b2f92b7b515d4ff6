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
    /// - Throws: `invalidConfiguration` with the members that this version does not support.
    package mutating func take(
        _ file: Configuration, _ sources: [AccessPolicy.KeySource] = [], fetch: KeyFetch? = nil
    ) throws(RecordServerError) {
        let unsupported = file.unsupported
        guard unsupported.isEmpty, let listener = file.listeners.first else {
            let names = unsupported.joined(separator: ", ")
            throw .invalidConfiguration("this version does not support \(names) yet: remove \(unsupported.count == 1 ? "it" : "them")")
        }
        (host, port) = (listener.host, Int(listener.port))
        (hostNames, allowedOrigins) = (file.hosts, file.origins)
        if !file.proxies.isEmpty { trustedProxies = file.proxies.compactMap(AddressRange.init) }
        let quotas = file.quotas
        if let connections = quotas.address.connections { connectionsPerAddress = connections }
        if let bytes = quotas.server.requests { requestMemory = Int(bytes) }
        if let bytes = quotas.server.answers { answerMemory = Int(bytes) }
        if let bytes = quotas.server.feeds { recentTotalBytes = Int(bytes) }
        (requiresKeys, self.quotas) = (true, quotas)
        (anonymous, verifier, keySources) = (file.anonymous, file.verifier, sources)
        if let fetch { fetchKeys = fetch }
    }

    /// The settings of the other configuration that a running server cannot take.
    func fixedSettings(changedBy other: RecordServerConfiguration) -> [String] {
        let settings: [(String, Bool)] = [
            ("listen", host != other.host || port != other.port), ("proxies", trustedProxies != other.trustedProxies),
            ("quotas.address.connections", connectionsPerAddress != other.connectionsPerAddress),
            ("quotas.server.requests", requestMemory != other.requestMemory),
            ("quotas.server.answers", answerMemory != other.answerMemory),
            ("quotas.server.feeds", recentTotalBytes != other.recentTotalBytes),
        ]
        return settings.filter(\.1).map(\.0)
    }
}

extension Configuration {
    /// The members that are read, and that the server does not support yet.
    fileprivate var unsupported: [String] {
        let members: [(String, Bool)] = [
            ("a second listener", listeners.count > 1), ("listen[].tls", listeners.contains { !$0.certificates.isEmpty }),
            ("admin", admin != nil),
            ("audit", audit != nil),
        ]
        return members.filter(\.1).map(\.0)
    }
}
