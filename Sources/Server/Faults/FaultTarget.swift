/// The requests that a fault strikes. No fault reaches a namespace's status, its deletion or the faults themselves.
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

    /// The target that an endpoint belongs to; `nil` for one that no fault reaches.
    init?(_ endpoint: Endpoint) {
        switch endpoint {
        case .getRecord, .putRecord, .patchRecord, .deleteRecord, .listRecords: self = .records
        case .read: self = .reads
        case .write: self = .writes
        case .invalidate: self = .invalidations
        case .getClient: self = .clients
        case .getChanges: self = .changes
        case .getNamespace, .deleteNamespace, .getServer, .getHealth, .getReadiness, .getMetrics, .getOpenAPI, .armFault, .listFaults,
            .liftFaults, .resetNamespace, .compactNamespace:
            return nil
        }
    }

    /// Whether a fault on this target strikes requests of the other.
    func reaches(_ other: FaultTarget) -> Bool { self == .any || self == other }
}
