#if PostgreSQL
/// Where a server writes: which cluster, and which history of it. A failover or a restore begins another timeline.
struct ServerPlace: Hashable, Sendable {
    /// The identifier that `initdb` gave the cluster.
    var system: Int64
    var timeline: Int64

    /// - Parameter name: the first eight characters of the name of the write-ahead log's file, in base 16.
    ///   `pg_control_checkpoint` would return the old timeline until the first checkpoint after a promotion.
    init?(system: Int64, logFile name: String) {
        guard let timeline = Int64(name, radix: 16) else { return nil }
        self.system = system
        self.timeline = timeline
    }

    init(system: Int64, timeline: Int64) {
        self.system = system
        self.timeline = timeline
    }

    /// Whether it is a later timeline of the same cluster, which begins with a part of the earlier one.
    func continues(_ other: ServerPlace) -> Bool { system == other.system && timeline > other.timeline }
}

extension ServerPlace: CustomStringConvertible {
    var description: String { "timeline \(timeline) of cluster \(system)" }
}

/// Which history of the store a connection sees.
struct StoreHistory: Hashable, Sendable {
    var place: ServerPlace
    /// Rises with each renewal of all epochs: the time of the renewal, in milliseconds since 1970, or more. A number that is only
    /// counted would be given again after a failover that undoes a renewal.
    var ordinal: Int64

    /// Whether a server that has seen `other` must not use this one: it is of an earlier history.
    func isBehind(_ other: StoreHistory) -> Bool {
        ordinal < other.ordinal || other.place.continues(place)
    }
}
#endif
