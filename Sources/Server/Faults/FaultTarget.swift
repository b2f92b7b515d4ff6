/// Which requests a fault strikes. A namespace's status, its deletion and the faults themselves are out of reach of all.
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
    /// How far a device's writes have come.
    case clients
    case invalidations

    /// The requests that an endpoint belongs to; `nil` for one that no fault reaches.
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

    /// Whether a fault on this strikes requests of the other kind.
    func reaches(_ other: FaultTarget) -> Bool { self == .any || self == other }
}
