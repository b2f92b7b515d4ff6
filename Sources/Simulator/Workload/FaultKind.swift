/// The kinds of faults in a run, for `--faults`.
public enum FaultKind: String, Hashable, Sendable, CaseIterable {
    /// Partitions in one direction or both, devices that are unplugged, slow links, connections that break.
    case network
    /// Single messages that are lost, doubled, delayed, cut or garbled.
    case messages
    /// Proxies, login pages and firewalls that answer for the server.
    case proxies
    /// Device processes that are killed and start again, some of which register their merge closures long after their start.
    case crashes
    /// Devices that sleep, for days too, and whose network path changes.
    case sleep
    /// Device disks that are full, failing or slow.
    case disks
    /// The wall clocks of devices and of the server.
    case clocks
    /// The server's process is killed; its disk is full, failing or slow.
    case server
    /// The server refuses: overloaded, tokens that expire, no token good.
    case refusals
    /// The server is restored from an old back-up, or its namespace dropped: a new epoch.
    case restores
    /// Deletes and invalidations are forgotten early.
    case compaction
    /// Devices that log out and in under another account.
    case clears
    /// Disk tiers that evict keys.
    case evictions
    /// Device disks that are copied, and devices that go on with a copy: images and snapshots.
    case copies
    /// Of several servers: devices that move between them, single servers that are killed, and announcements that are
    /// lost, late or doubled, or not received at all.
    case servers

    /// What it is, in a line.
    public var summary: String {
        switch self {
        case .network: "partitions, unplugged devices, slow links, broken connections"
        case .messages: "messages lost, doubled, delayed, cut or garbled"
        case .proxies: "proxies, login pages and firewalls that answer for the server"
        case .crashes: "device processes killed and started again, some with other collections to follow; merge closures registered late"
        case .sleep: "devices asleep, for days too; network paths that change"
        case .disks: "device disks full, failing or slow"
        case .clocks: "wall clocks set forward or back"
        case .server: "the server killed; its disk full, failing, slow or unsure"
        case .refusals: "503, expired tokens, 401"
        case .restores: "a restored back-up, a promoted standby, a dropped namespace: new epochs"
        case .compaction: "deletes and invalidations forgotten early"
        case .clears: "devices cleared: log-out, another account"
        case .evictions: "disk tiers that evict keys"
        case .copies: "device disks copied and rolled back"
        case .servers: "of several servers: devices that move, announcements lost, late or doubled, one server killed"
        }
    }
}
