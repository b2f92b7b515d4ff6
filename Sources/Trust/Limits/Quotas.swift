package import FreshetPlatform

/// The `quotas` of a configuration. `nil` is no limit.
package struct Quotas: Hashable, Sendable {
    /// For each address.
    package struct Address: Hashable, Sendable {
        package var connections: Int? = 1_000
        /// Requests without a credential.
        package var unauthenticated: Rate? = Rate(20, per: 1_000)
        /// Refused credentials.
        package var failures: Rate? = Rate(10, per: 60_000)
        /// Handshakes of TLS.
        package var handshakes: Rate?
    }

    /// For each principal.
    package struct Holder: Hashable, Sendable {
        package var requests: Rate?
        package var writes: Rate?
        /// Bytes of request bodies.
        package var bytes: Rate?
        /// Polls and streams that wait at once.
        package var waits: Int?

        /// Whether there is any rate, which has to be counted for each request.
        package var hasRates: Bool { requests != nil || writes != nil || bytes != nil }
    }

    /// For each namespace. A batch of writes that exceeds one is refused as a whole, with 507.
    package struct Space: Hashable, Sendable {
        /// Bytes of the records' values.
        package var storage: Int64?
        package var records: Int64?
        /// Clients that have written under a number.
        package var clients: Int64?

        package init(storage: Int64? = nil, records: Int64? = nil, clients: Int64? = nil) {
            (self.storage, self.records, self.clients) = (storage, records, clients)
        }

        /// Whether there is any limit.
        package var isLimited: Bool { storage != nil || records != nil || clients != nil }
    }

    /// For the whole server, in bytes.
    package struct Server: Hashable, Sendable {
        package var requests: Int64?
        package var answers: Int64?
        package var feeds: Int64?
    }

    package var address = Address()
    package var principal = Holder()
    package var namespace = Space()
    package var server = Server()

    package init() {}
}

/// What a namespace holds, or what writes would add to it.
package struct NamespaceUsage: Hashable, Sendable {
    package var storage: Int64
    package var records: Int64
    package var clients: Int64

    package init(storage: Int64 = 0, records: Int64 = 0, clients: Int64 = 0) {
        (self.storage, self.records, self.clients) = (storage, records, clients)
    }
}

extension NamespaceUsage {
    package static func + (left: NamespaceUsage, right: NamespaceUsage) -> NamespaceUsage {
        NamespaceUsage(storage: left.storage + right.storage, records: left.records + right.records, clients: left.clients + right.clients)
    }

    package static func - (left: NamespaceUsage, right: NamespaceUsage) -> NamespaceUsage {
        NamespaceUsage(storage: left.storage - right.storage, records: left.records - right.records, clients: left.clients - right.clients)
    }
}

/// A quota that writes would exceed: the detail of 507 `quota-exceeded`.
package struct QuotaExcess: Error, Hashable, Sendable, CustomStringConvertible {
    package let quota: String
    package let limit: Int64

    package var description: String {
        // A client's last number is never forgotten, so nothing that a client does frees its place.
        let remedy = quota == "clients" ? "write under a client name that it has" : "delete records"
        return "the namespace's quota of \(quota) is \(limit): \(remedy), or have the operator raise quotas.namespace.\(quota)"
    }
}

extension Quotas.Space {
    /// The first quota that `usage` and `added` together exceed; `nil` if none. Writes that add nothing pass, so that a
    /// namespace beyond its quota can be reduced.
    package func excess(_ usage: NamespaceUsage, adding added: NamespaceUsage) -> QuotaExcess? {
        let parts: [(String, Int64?, Int64, Int64)] = [
            ("storage", storage, usage.storage, added.storage), ("records", records, usage.records, added.records),
            ("clients", clients, usage.clients, added.clients),
        ]
        for case (let name, let limit?, let used, let more) in parts where more > 0 {
            let (sum, overflows) = used.addingReportingOverflow(more)
            if overflows || sum > limit { return QuotaExcess(quota: name, limit: limit) }
        }
        return nil
    }
}
