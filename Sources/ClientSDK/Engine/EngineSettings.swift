internal import FreshetCache
internal import FreshetPlatform
internal import FreshetTransport
internal import FreshetWire
internal import Logging

/// A checked ``SyncClient/Configuration``.
struct EngineSettings: Sendable {
    let requests: RequestEncoder
    let namespace: Namespace
    let directory: AbsolutePath?
    let fileLimit: Int?
    let memoryLimit: Int
    let memoryPressure: MemoryPressure?
    let diskLimit: Int
    let client: ClientIdentifier?
    let principal: String?
    let token: (@Sendable (Bool) async throws -> String?)?
    let sync: SyncSettings
    let transport: CurlTransport.Configuration
    let requestTimeout: Duration
    let logger: ClientLog

    /// The storage location, for error texts.
    var path: String { directory?.text ?? "memory" }

    init(_ configuration: SyncClient.Configuration) throws(ClientError) {
        namespace = try Self.name { () throws(WireError) in try Namespace(configuration.namespace) }
        requests = RequestEncoder(
            base: try Self.address(configuration), namespace: namespace,
            responseLimit: try Self.check(
                configuration.responseLimit, in: SyncClient.Configuration.leastResponseLimit...Int.max, "responseLimit", "bytes"))
        directory =
            switch configuration.storage {
            case .memory: nil
            case .directory(let path) where path.isEmpty: throw .invalidConfiguration("the directory's name is empty; use .memory for none")
            case .directory(let path): try Self.path(path, "the directory")
            }
        fileLimit = try configuration.fileLimit.map { limit throws(ClientError) in
            try Self.check(limit, in: 65_536...Int.max, "fileLimit", "bytes")
        }
        memoryLimit = try Self.check(configuration.memoryLimit, in: 0...Int.max, "memoryLimit", "bytes")
        memoryPressure = configuration.memoryPressure
        let diskLimit =
            configuration.diskLimit ?? (configuration.following == .cachedRecords ? SyncClient.Configuration.standardDiskLimit : .max)
        self.diskLimit = try Self.check(diskLimit, in: 262_144...Int.max, "diskLimit", "bytes")
        client = try configuration.client.map { text throws(ClientError) in
            try Self.name { () throws(WireError) in try ClientIdentifier(text) }
        }
        guard client == nil || directory != nil else {
            throw .invalidConfiguration(
                "'client' names one device for ever, whose writes are numbered on, so it takes storage in a directory; leave it nil for .memory"
            )
        }
        principal = configuration.principal
        guard principal.map({ (1...1_024).contains($0.utf8.count) }) ?? true else {
            throw .invalidConfiguration("principal takes 1 to 1,024 bytes of UTF-8; leave it nil for a directory that belongs to nobody")
        }
        token = configuration.token
        requestTimeout = configuration.requestTimeout
        logger = ClientLog(configuration.logger)
        sync = try Self.sync(configuration)
        var transport = CurlTransport.Configuration()
        transport.connectTimeout = try Self.check(configuration.connectTimeout, atLeast: .milliseconds(1), "connectTimeout")
        transport.allowsHTTP2 = configuration.allowsHTTP2
        transport.allowsInsecureCredentials = configuration.allowsInsecureCredentials
        transport.tls.authority = try configuration.authority.map { path throws(ClientError) in try Self.path(path, "authority") }
        transport.tls.identity = try configuration.clientCertificate.map { files throws(ClientError) in
            TLSTrust.Identity(
                certificate: try Self.path(files.certificate, "clientCertificate.certificate"),
                key: try Self.path(files.key, "clientCertificate.key"))
        }
        transport.tls.pinnedKeys = configuration.pinnedKeys
        if let mistake = transport.tls.mistake { throw .invalidConfiguration(mistake) }
        guard transport.tls == TLSTrust() || RequestTarget(requests.base)?.isEncrypted == true else {
            throw .invalidConfiguration(
                "authority, clientCertificate and pinnedKeys have no effect over plain http: give a URL with https, or leave them out")
        }
        self.transport = transport
    }

    /// A name that no other device will ever have.
    static var randomClient: ClientIdentifier {
        let bits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        // Letters and digits, at most 26 of them, so always valid.
        guard let client = try? ClientIdentifier("d-\(bits)") else { preconditionFailure("letters and digits are a valid name") }
        return client
    }

    private static func sync(_ configuration: SyncClient.Configuration) throws(ClientError) -> SyncSettings {
        var sync = SyncSettings()
        sync.following = configuration.following == .everything ? .everything : .cachedKeys
        sync.filter = try name { () throws(WireError) in
            try ChangeFilter(collections: configuration.collections, prefix: try RecordKey.check(prefix: configuration.prefix))
        }
        sync.adoptsStores = configuration.adoptsStore
        sync.hasToken = configuration.token != nil
        let hold = configuration.hold
        guard (.seconds(1) ... .seconds(60)).contains(hold), hold.components.attoseconds == 0 else {
            throw .invalidConfiguration("hold is \(hold): it takes 1 to 60 whole seconds")
        }
        sync.hold = Int(hold.components.seconds)
        sync.grace = Int64(try check(configuration.grace, atLeast: .milliseconds(1), "grace").wholeMilliseconds)
        sync.requestTimeout = Int64(try check(configuration.requestTimeout, atLeast: .milliseconds(1), "requestTimeout").wholeMilliseconds)
        sync.readTimeout = Int64(try check(configuration.readTimeout, atLeast: .milliseconds(1), "readTimeout").wholeMilliseconds)
        sync.mayEvict = configuration.following == .everything && configuration.diskLimit != nil
        sync.firstDelay = Int64(try check(configuration.firstDelay, atLeast: .milliseconds(1), "firstDelay").wholeMilliseconds)
        sync.longestDelay = Int64(
            try check(configuration.longestDelay, atLeast: configuration.firstDelay, "longestDelay").wholeMilliseconds)
        return sync
    }

    private static func address(_ configuration: SyncClient.Configuration) throws(ClientError) -> String {
        let url = configuration.url
        var base = url[...]
        while base.last == "/" { base.removeLast() }
        let scheme = ["http://", "https://"].first { base.lowercased().hasPrefix($0) }
        guard let scheme, base.utf8.count > scheme.utf8.count, !base.contains(where: { $0 == "?" || $0 == "#" }),
            base.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let target = RequestTarget(String(base))
        else {
            throw .invalidConfiguration(
                """
                '\(RequestTarget.hidingUser(of: url))' is no server's address: it takes http:// or https://, a host, perhaps a port and a path, \
                and a user and password only percent-encoded
                """)
        }
        if let root = RequestTarget.root(of: String(base)) {
            throw .invalidConfiguration(
                """
                '\(RequestTarget.hidingUser(of: url))' names a path of the protocol: leave out '/v1' and what follows, and give \
                '\(RequestTarget.hidingUser(of: root))'
                """)
        }
        guard target.isProtected || configuration.allowsInsecureCredentials || (configuration.token == nil && !target.hasUser) else {
            let secret = configuration.token == nil ? "the password in the URL" : "the token"
            throw .invalidConfiguration(
                "\(secret) would go unencrypted to \(target.host): use https, or set allowsInsecureCredentials if that network is trusted")
        }
        return String(base)
    }

    /// Made absolute once: the directory is opened again after a stop, and the files for each connection.
    private static func path(_ path: String, _ name: String) throws(ClientError) -> AbsolutePath {
        do { return try AbsolutePath(path) } catch { throw .invalidConfiguration("\(name) '\(path)' \(error)") }
    }

    private static func name<Value>(_ body: () throws(WireError) -> Value) throws(ClientError) -> Value {
        do {
            return try body()
        } catch {
            throw .invalidName(error.description)
        }
    }

    private static func check(_ value: Int, in range: ClosedRange<Int>, _ name: String, _ unit: String) throws(ClientError) -> Int {
        guard range.contains(value) else {
            throw .invalidConfiguration("\(name) is \(value): it takes at least \(range.lowerBound) \(unit)")
        }
        return value
    }

    private static func check(_ value: Duration, atLeast least: Duration, _ name: String) throws(ClientError) -> Duration {
        guard value >= least else { throw .invalidConfiguration("\(name) is \(value): it takes at least \(least)") }
        return value
    }
}
