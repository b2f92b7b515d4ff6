import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

/// The requests that a fault matches. No fault reaches a namespace's status, its deletion or the faults themselves.
package enum FaultTarget: String, CaseIterable, Sendable {
    /// All of the others.
    case any
    /// The feed, long polls and streams.
    case changes
    /// Numbered writes.
    case writes
    /// Many records at once.
    case reads
    /// One record, whatever the method, and lists.
    case records
    /// The number of a device's last write.
    case clients
    case invalidations

    /// Whether a fault on this target matches requests of the other.
    package func reaches(_ other: FaultTarget) -> Bool { self == .any || self == other }
}

/// The part of a request that faults match.
struct FaultableRequest {
    let namespace: Namespace
    let target: FaultTarget
    let token: DeviceToken?

    /// `nil` for a request that no fault reaches.
    init?(_ head: RequestHead) {
        guard let path = EndpointPath(head.path), let namespace = try? Namespace(path.namespace),
            let target = FaultTarget(rawValue: path.endpoint), Self.methods(of: target).contains(head.methodName)
        else { return nil }
        guard (target == .records || target == .clients) == path.hasMore else { return nil }
        self.namespace = namespace
        self.target = target
        token = head.value(of: "authorization").flatMap(DeviceToken.init(authorization:))
    }

    /// The methods of an endpoint; a browser's `OPTIONS` is none of them.
    private static func methods(of target: FaultTarget) -> Set<HTTPRequest.Method> {
        switch target {
        case .any: []
        case .changes, .clients: [.get, .head]
        case .records: [.get, .head, .put, .patch, .delete]
        case .writes, .reads, .invalidations: [.post]
        }
    }
}

/// The parts of the path `/v1/{namespace}/{endpoint}` or of one below it, as the request spells them.
struct EndpointPath {
    let namespace: String
    let endpoint: String
    /// Whether something follows the endpoint.
    let hasMore: Bool

    /// `nil` for another path.
    init?(_ path: some StringProtocol) {
        let parts = path.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].isEmpty, parts[1] == "v1" else { return nil }
        (namespace, endpoint, hasMore) = (String(parts[2]), String(parts[3]), parts.count == 5)
    }
}
