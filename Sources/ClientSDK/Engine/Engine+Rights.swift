internal import FreshetTransport
internal import FreshetWire
internal import HTTPTypes

/// The rights of the token, for the status.
struct TokenRights {
    /// The token of the latest request.
    private var token: String?
    /// Whether the rights are to be read, since the token is another one or its rights have changed.
    private var isOutdated = false
    private var isReading = false
    /// The earliest time of the next read, in milliseconds of uptime.
    private var notBefore: Int64 = 0
    /// Between two reads, unless the server has stated that the rights have changed; in milliseconds.
    private static let interval: Int64 = 5_000
    /// As the server stated them last.
    private(set) var rights: AccessRights?

    /// Notes the token of a request that is being sent.
    mutating func use(_ token: String?) {
        guard token != self.token else { return }
        (self.token, isOutdated) = (token, token != nil)
        if token == nil { rights = nil }
    }

    mutating func outdate() { (isOutdated, notBefore) = (token != nil, 0) }

    /// Returns the token whose rights are to be read now; `nil` if there is nothing to read. An app that makes a token for each request
    /// does not cause a read for each request. A token that replaces another soon after is read by a later answer.
    mutating func next(at uptime: Int64) -> String? {
        guard isOutdated, !isReading, uptime >= notBefore else { return nil }
        (isOutdated, isReading, notBefore) = (false, true, uptime + Self.interval)
        return token
    }

    /// - Parameter found: `nil` if the server could not be asked: it is asked again later.
    mutating func take(_ found: AccessRights?) {
        isReading = false
        if let found { rights = found } else { isOutdated = token != nil }
    }
}

extension Engine {
    /// Reads the rights of the token if they are not known, after an answer of the server.
    func noteRights(_ reply: Reply) {
        switch reply {
        case .failure, .garbage, .tooLarge: return
        case .problem(let problem, _, _) where problem.status == 401: return
        case .problem(let problem, _, _) where problem.code == .rightsChanged || problem.withdrawsReading: tokenRights.outdate()
        default: break
        }
        guard let token = tokenRights.next(at: DeviceClock.uptime) else { return }
        let request = settings.requests.request(.get, settings.namespace.rightsPath, token, settings.requestTimeout)
        _ = transport.send(request) { [weak self, run] outcome in
            // On the engine's thread, between its jobs.
            self?.assumeIsolated { if $0.run == run { $0.takeRights(outcome) } }
        }
    }

    private func takeRights(_ outcome: Result<HTTPReply, TransportError>) {
        var rights: AccessRights?
        if case .success(let reply) = outcome, reply.status == 200, Content.isJSON(reply.fields[.contentType] ?? "") {
            rights = try? AccessRights(json: reply.body)
        }
        tokenRights.take(rights)
        statusBroadcaster.update { $0.rights = tokenRights.rights }
    }
}
