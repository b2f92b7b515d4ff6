import FreshetPlatform
public import FreshetSocketHTTP
package import FreshetTrust

/// Where a server listens, where it keeps its records, and what it grants. The defaults suit tests: loopback, a free port, in memory.
///
/// A relative path begins at the working directory of the moment when the ``RecordServer`` is created, also for a later reload. A
/// path that begins with `~` is refused.
public struct RecordServerConfiguration: Sendable {
    /// Where records are kept.
    public enum Storage: Hashable, Sendable {
        /// In memory: they are lost when the server stops.
        case memory
        /// In this directory, which is made if its parent exists.
        case directory(String)
    }

    /// The certificates with which a server encrypts its connections (TLS 1.2 and 1.3). The files are in PEM, and are read at the start and by
    /// ``RecordServer/reloadCertificates()``.
    public struct TLS: Hashable, Sendable {
        /// A certificate and its key.
        public struct Certificate: Hashable, Sendable {
            /// The path of the server's certificate, followed in the file by those that signed it.
            public var chain: String
            /// The path of the private key, without a passphrase.
            public var key: String

            /// - Parameters:
            ///   - chain: the path of the certificate and those that signed it.
            ///   - key: the path of its private key.
            public init(chain: String, key: String) {
                self.chain = chain
                self.key = key
            }
        }

        /// At least one. A client gets the first certificate for the name that it asks for, and otherwise the first of all.
        public var certificates: [Certificate]
        /// The path of a file of certificates. If it is set, only clients that present a certificate signed by one of them are served.
        public var clientAuthority: String?

        /// - Parameters:
        ///   - certificates: at least one.
        ///   - clientAuthority: the signers of clients' certificates; `nil` to take clients without a certificate.
        public init(certificates: [Certificate], clientAuthority: String? = nil) {
            self.certificates = certificates
            self.clientAuthority = clientAuthority
        }
    }

    /// An IPv4 or IPv6 address, or a name. Every client that reaches it can read and change all records. A program that
    /// sets one beyond loopback is not asked for confirmation, unlike the user of `freshet serve`.
    public var host = "127.0.0.1"
    /// The TCP port; 0 picks a free one.
    public var port = 0
    /// Encrypts all connections; `nil`, the default, leaves them plain.
    public var tls: TLS?
    /// Further addresses to listen on, each with its own certificates.
    package var otherListeners: [Listener] = []
    /// The path of a Unix socket for operators, with mode 0600: a process that can open it may do everything, without a key. Its folder must not be
    /// writable by others. With it, all other listeners serve only `/v1/…`, `/healthz` and `/openapi.json`.
    public var adminSocket: String?
    /// An address for operators in place of the socket; they need an administrator's key there.
    package var adminListener: Listener?
    /// Reads the configuration again, for a reload; `nil` if it cannot be changed.
    package var source: (@Sendable () throws(RecordServerError) -> RecordServerConfiguration)?
    /// Where records are kept.
    public var storage = Storage.memory
    /// Whether the directory was restored from a back-up: then every namespace gets a new epoch at the start, since clients may have seen
    /// what the back-up does not have. Set it for the first start after a restore only.
    public var isRestored = false

    /// Event loops, 1 to 1,024; by default half the cores.
    public var loops = HTTPServerConfiguration.defaultLoops
    /// The most connections open at once.
    public var connections = 20_000
    /// The most connections open at once of one IPv4 address, or of one IPv6 network of 64 bits.
    public var connectionsPerAddress = 1_000
    /// Addresses that may have as many connections as there are, since they carry those of many clients: reverse
    /// proxies. By default the machine itself.
    public var trustedProxies = AddressRange.loopback
    /// Whether each request must have a key, as `freshet key create` makes them. Without it, everybody who
    /// reaches the server may do everything.
    public var requiresKeys = false
    /// The rights of requests without a key, if ``requiresKeys`` is set.
    package var anonymous = Rights.none
    /// The issuers of tokens that are accepted too, and the roles that tokens name.
    package var verifier = TokenVerifier(issuers: [], roles: [:])
    /// The roles of client certificates, by the index of the listener: 0 is ``host``, and ``otherListeners`` follow.
    package var certificateRoles: [Int: Role] = [:]
    /// The rates of addresses and principals, and the quotas of namespaces.
    package var quotas = Quotas()
    /// Where the keys of the issuers are, in their order.
    package var keySources: [AccessPolicy.KeySource] = []
    /// Fetches the keys at a URL.
    package var fetchKeys: KeyFetch = { $1(.failure(KeyFetchFailure("this server fetches no keys"))) }
    /// Names, without ports, that requests may have in `Host`, in addition to ``host``, IP literals and localhost.
    /// Others are answered `421`, so that no web page reaches the server by a name that its owner controls (DNS
    /// rebinding). `*` allows all, for a proxy that checks them itself.
    public var hostNames: [String] = []
    /// Origins of web pages that may change records and read responses (CORS), for example `https://app.example`, in
    /// addition to the server's own; at most 256. A browser's requests from other origins that could change something are
    /// answered `403`.
    public var allowedOrigins: [String] = []
    /// The file of the audit log, to which lines are appended: changes of keys, rights and whole namespaces, and refusals.
    /// Made with mode 0600 if it is not there. `nil`, the default, writes none.
    public var auditLog: String?
    /// Whether the server stops once the audit log cannot be written. A change of keys, rights or whole namespaces is then
    /// acknowledged only after its line is on the disk. ``RecordServer/waitUntilStopped()`` throws the reason.
    public var requiresAuditLog = false
    /// The most bytes of a request's body, and so of a value.
    public var bodyBytes = 16 << 20
    /// The most bytes of requests in memory, over all connections: those that are being received, and large bodies that are being handled.
    public var requestMemory = 256 << 20
    /// The most bytes of answers that wait to be sent, over all connections.
    public var answerMemory = 512 << 20
    /// The most bytes of a value that is patched or incremented, and of a merge patch. Such a value is parsed while all writes wait.
    public var editedBytes = 1 << 20
    /// The most scans (lists, reads, catching up) that may run or wait for a thread; further ones are answered `503`.
    public var pendingReads = 4_096

    /// Seconds that a long poll waits unless the request names a time, 0 to 60.
    public var hold = 25
    /// The principals of shared caches in front of the server (a CDN, Varnish), as `key:<id>` or `<issuer>|<subject>`. Such a cache may
    /// keep the response of a poll that waited for a second, so that one request answers all readers that wait at one
    /// position. It has to check the rights of its readers: all that ask for the same URL get the same response. `*`
    /// stands for everybody, and is for a server that is open to all.
    public var edge: [String] = []
    /// Values longer than this many bytes are left out of changes.
    public var inlineBytes = 64 << 10
    /// The most recent changes that are kept in memory for each namespace in use.
    public var recentChanges = 4_096
    /// The most bytes of recent changes in memory, for each namespace in use.
    public var recentBytes = 8 << 20
    /// The most bytes of recent changes in memory, for all namespaces together. Beyond, those of the namespace unused
    /// for longest are evicted, and the store answers instead. One namespace never takes more than half.
    public var recentTotalBytes = 64 << 20

    /// How long a delete is remembered, while the server runs or is off for a day at most: no wall clock is trusted to say more. A client
    /// that was away for longer starts again from a list.
    public var tombstoneRetention = Duration.seconds(30 * 86_400)
    /// How long the outcomes of a client's writes are kept after its last one, in whole days, counted as those of ``tombstoneRetention``.
    /// Its number is kept for ever, so a client that comes back later goes on; a write that it repeats has no effect and is answered as
    /// `settled`.
    public var outcomeRetention = Duration.seconds(365 * 86_400)
    /// From the end of one pass of compaction to the next. The first one begins when the server has started.
    public var compactionInterval = Duration.seconds(3_600)
    /// How long a stop waits for requests in flight.
    public var drainTimeout = Duration.seconds(10)

    /// The defaults.
    public init() {}

    /// - Parameters:
    ///   - host: where to listen.
    ///   - port: 0 picks a free one.
    ///   - directory: where records are kept.
    public init(host: String = "127.0.0.1", port: Int = 0, directory: String) {
        self.host = host
        self.port = port
        storage = .directory(directory)
    }

    /// - Throws: `invalidConfiguration` with the first setting that is out of range.
    package func check() throws(RecordServerError) {
        let rules: [(Bool, String)] = [
            ((0...65_535).contains(port), "port is \(port): it takes 0 to 65535"),
            (listeners.allSatisfy { (0...65_535).contains($0.port) }, "a port of a listener is out of range: it takes 0 to 65535"),
            (listeners.count <= 64, "there are \(listeners.count) listeners: it takes at most 64"),
            (adminSocket == nil || adminListener == nil, "adminSocket goes without an admin address: choose one"),
            ((1...1_024).contains(loops), "loops is \(loops): it takes 1 to 1024"),
            (connections > 0, "connections is \(connections): it takes 1 or more"),
            (connectionsPerAddress > 0, "connectionsPerAddress is \(connectionsPerAddress): it takes 1 or more"),
            (bodyBytes > 0, "bodyBytes is \(bodyBytes): it takes 1 or more"),
            (requestMemory >= bodyBytes, "requestMemory is \(requestMemory): it takes at least bodyBytes, \(bodyBytes)"),
            (answerMemory >= bodyBytes, "answerMemory is \(answerMemory): it takes at least bodyBytes, \(bodyBytes)"),
            (editedBytes > 0, "editedBytes is \(editedBytes): it takes 1 or more"),
            (edge.count <= 64, "edge names \(edge.count) principals: it takes at most 64"),
            (
                !edge.contains(EdgeCaching.everybody) || !requiresKeys && edge.count == 1,
                "edge is '*', which is for a server that is open to all: name the principal of the cache, such as key:<id>"
            ),
            ((0...60).contains(hold), "hold is \(hold): it takes 0 to 60 seconds"),
            (inlineBytes >= 0, "inlineBytes is \(inlineBytes): it takes 0 or more"),
            (recentChanges > 0, "recentChanges is \(recentChanges): it takes 1 or more"),
            (recentBytes >= 0, "recentBytes is \(recentBytes): it takes 0 or more"),
            (recentTotalBytes >= 0, "recentTotalBytes is \(recentTotalBytes): it takes 0 or more"),
            (tombstoneRetention >= .zero, "tombstoneRetention is \(tombstoneRetention): it cannot be negative"),
            (outcomeRetention >= .seconds(86_400), "outcomeRetention is \(outcomeRetention): it takes a day or more"),
            (compactionInterval > .zero, "compactionInterval is \(compactionInterval): it must be above zero"),
        ]
        for (isRight, text) in rules where !isRight { throw .invalidConfiguration(text) }
        guard !requiresAuditLog || auditLog != nil else {
            throw .invalidConfiguration("requiresAuditLog needs auditLog: name the file")
        }
        guard allowedOrigins.count <= CrossOriginList.maximumCount else {
            throw .invalidConfiguration(
                "allowedOrigins has \(allowedOrigins.count) origins: it takes at most \(CrossOriginList.maximumCount)")
        }
        for name in hostNames where !Self.isHostName(name) {
            throw .invalidConfiguration("hostNames has '\(name)': it takes names without scheme, port and path, such as sync.example, or *")
        }
        for origin in allowedOrigins where !Self.isOrigin(origin) {
            throw .invalidConfiguration("allowedOrigins has '\(origin)': it takes \(Self.originForm)")
        }
    }

    /// Whether ``hostNames`` accepts the text.
    public static func isHostName(_ text: String) -> Bool {
        let isName = text.utf8.allSatisfy {
            "-._".utf8.contains($0) || ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") || (48...57).contains($0)
        }
        return text == "*" || !text.isEmpty && text.utf8.count <= 253 && isName
    }

    /// Whether ``allowedOrigins`` accepts the text.
    public static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) else { return false }
        let authority = text.utf8.dropFirst(scheme.utf8.count)
        // Browsers leave out the scheme's own port, so an origin with it would never match.
        let hasOwnPort = text.lowercased().hasSuffix(scheme == "http://" ? ":80" : ":443")
        return !authority.isEmpty && !hasOwnPort && authority.allSatisfy { (0x21...0x7E).contains($0) && !"/?#@".utf8.contains($0) }
    }

    /// What ``isOrigin(_:)`` accepts, for an error.
    package static let originForm = "scheme, host and a port that is not the scheme's own, alone, such as https://app.example"

    /// The HTTP server's part, without encryption.
    var http: HTTPServerConfiguration {
        HTTPServerConfiguration(host: host, port: port, loops: loops, limits: limits, drainTimeout: drainTimeout)
    }

    private var limits: Limits {
        var limits = Limits(bodyBytes: bodyBytes, connections: connections)
        limits.requestMemory = requestMemory
        limits.answerMemory = answerMemory
        limits.connectionsPerAddress = connectionsPerAddress
        limits.trustedProxies = trustedProxies
        if let handshakes = quotas.address.handshakes {
            (limits.handshakesPerAddress, limits.handshakePeriod) = (Int(handshakes.count), .milliseconds(handshakes.period))
        }
        return limits
    }

    var settings: ServerCore.Settings {
        var feed = FeedLimits()
        feed.changes = recentChanges
        feed.bytes = min(recentBytes, recentTotalBytes / 2)
        feed.totalBytes = recentTotalBytes
        feed.inlineBytes = inlineBytes
        return ServerCore.Settings(
            hold: hold, feed: feed, valueLimit: bodyBytes, editLimit: min(editedBytes, bodyBytes), quotas: quotas.namespace,
            rules: policy([:]).rules, edge: EdgeCaching(edge, hold: hold))
    }

    /// - Parameter authorities: those of the listeners' present certificates.
    func policy(_ authorities: [Int: String]) -> AccessPolicy {
        AccessPolicy(
            rules: AccessRules(names: hostNames + listeners.map(\.host), origins: allowedOrigins), anonymous: anonymous, verifier: verifier,
            certificateRoles: certificateRoles, authorities: authorities, sources: keySources, fetch: fetchKeys, quotas: quotas,
            proxies: trustedProxies)
    }
}
