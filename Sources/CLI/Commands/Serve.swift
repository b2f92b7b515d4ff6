import ArgumentParser
import FreshetFaultProxy
import FreshetSQLite
import FreshetServer
import FreshetService
import FreshetSocketHTTP
import FreshetTransport
import FreshetTrust
import Glibc
import Logging
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve records until SIGTERM or Ctrl-C.",
        discussion: """
            Prints where it listens once it answers. SIGTERM or SIGINT lets what is under way end, answers those who wait, and exits
            with 0; a second one ends at once. Nothing acknowledged is lost either way.

            EXAMPLES
              freshet serve
              freshet serve --require-keys --admin-socket ./admin.sock
              freshet serve --host 0.0.0.0 --require-keys --data /var/lib/freshet
              freshet serve --config /etc/freshet/freshet.json --data /var/lib/freshet
              freshet serve --host 0.0.0.0 --open --port 8180 --data /var/lib/freshet
              freshet serve --store postgres://freshet@db.example/freshet
              freshet serve --port 0 --memory
              freshet serve --port 0 --memory --test-faults
            """)

    enum Failover: String, ExpressibleByArgument, CaseIterable {
        case renew, keep
    }

    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    /// The beginning of the line that states where the server listens.
    static let readyPrefix = "listening on "

    /// The beginning of the lines that state further addresses.
    static let alsoPrefix = "also listening on "

    /// The port that all commands, pages and examples name.
    static let defaultPort = 8_180

    private static let defaultData = "./freshet-data"

    /// A thousand years.
    private static let mostDays = 365_000

    private static let exposure = "everyone who can reach the server can read and change all records, without a password or encryption"

    @Option(
        help: ArgumentHelp(
            "Take addresses, names and rights from this file, and again at SIGHUP; then only requests with a key are answered.",
            valueName: "file"), completion: .file(extensions: ["json"]))
    var config: String?
    @Option(
        help: "The address or name to listen on; with --require-keys or --open if it is not loopback. (default: 127.0.0.1)",
        completion: .list(["127.0.0.1", "::1", "localhost", "0.0.0.0", "::"]))
    var host: String?
    @Flag(help: "Listen beyond loopback: everyone who can reach the address can then read and change all records.") var open = false
    @Flag(help: "Answer only requests with a key; 'freshet key create' makes the first one.") var requireKeys = false
    @Option(help: "The port; 0 takes any free one. (default: \(Serve.defaultPort))") var port: Int?
    @Option(
        help: ArgumentHelp(
            """
            Make a socket for operators: processes of this user, which can open it, may do everything without a key. All other addresses then \
            serve neither /admin nor /metrics.
            """, valueName: "path"), completion: .file())
    var adminSocket: String?
    @Option(
        help: ArgumentHelp(
            "Serve https: a PEM file with the server's certificate and those that signed it. SIGHUP reads it again.", valueName: "file"),
        completion: .file())
    var tlsCertificate: String?
    @Option(help: ArgumentHelp("The PEM file with the certificate's private key.", valueName: "file"), completion: .file())
    var tlsKey: String?
    @Option(
        help: ArgumentHelp("Serve only clients with a certificate that one of this PEM file has signed.", valueName: "file"),
        completion: .file())
    var tlsClientCa: String?
    @Option(
        help: ArgumentHelp(
            "The folder that holds the records; made if it is not there. (default: \(Serve.defaultData))", valueName: "folder"),
        completion: .directory)
    var data: String?
    @Option(
        help: ArgumentHelp(
            """
            Keep the records in a PostgreSQL database, which several servers may share. What the URI leaves out comes from PGHOST, PGUSER, \
            PGPASSWORD and so on. Takes a freshet that was built with the trait PostgreSQL.
            """, valueName: "uri"))
    var store: String?
    @Option(
        help: ArgumentHelp(
            """
            Whether the servers of a --store notify each other of their commits. 'off' goes with poolers: a change that another server \
            wrote then arrives within half a second. (default: on)
            """, valueName: "on|off"))
    var postgresNotify: Switch?
    @Option(
        help: ArgumentHelp(
            """
            What follows a failover of the --store to another server of its cluster. 'renew' gives every namespace a new epoch, since \
            acknowledged writes may be missing. 'keep' keeps the epochs: for synchronous replication only, with a manager that promotes \
            no other standby. (default: renew)
            """, valueName: "renew|keep"))
    var failover: Failover?
    @Option(
        help: ArgumentHelp(
            """
            How often each host of the --store is asked whether it has taken over, 1 to 60 seconds. Until then a server whose connections \
            stay at a former primary acknowledges writes that are lost. (default: 2)
            """, valueName: "seconds"))
    var postgresCheckInterval: Int?
    @Flag(help: "Keep the records in memory: they go with the server.") var memory = false
    @Flag(help: "The folder was restored from a back-up: give every namespace a new epoch. For the first start only.")
    var restored = false
    @Option(help: ArgumentHelp("The most bytes of a value that is patched or incremented.", valueName: "bytes"))
    var editLimit = 1 << 20
    @Option(
        help: ArgumentHelp(
            "The most bytes of recent changes in memory, over all namespaces; the store has the others. (default: 67108864)",
            valueName: "bytes"))
    var recentLimit: Int?
    @Option(
        help: ArgumentHelp(
            "Forget the outcomes of a client's writes so many days after its last one; its number is kept for ever.", valueName: "days"))
    var outcomeRetention = 365
    @Option(
        help: ArgumentHelp("The most bytes of requests that are kept at once, of all clients. (default: 268435456)", valueName: "bytes"))
    var requestMemory: Int?
    @Option(
        help: ArgumentHelp(
            "The most bytes of answers that wait to be sent at once, of all clients. (default: 536870912)", valueName: "bytes"))
    var answerMemory: Int?
    @Option(
        help: ArgumentHelp("The most connections of one IPv4 address, or IPv6 network of 64 bits. (default: 1000)", valueName: "count"))
    var connectionsPerAddress: Int?
    @Option(
        help: ArgumentHelp(
            "A reverse proxy, an address or a network such as 10.0.0.0/8, that may have more; can be repeated. By default loopback.",
            valueName: "address"))
    var trustedProxy: [String] = []
    @Option(
        help: ArgumentHelp(
            "A name that requests may use for the server, beside IP addresses and localhost; can be repeated, * allows all.",
            valueName: "name"))
    var hostName: [String] = []
    @Option(
        help: ArgumentHelp(
            "Let web pages of this origin read and change records, such as https://app.example; can be repeated.", valueName: "origin"))
    var allowOrigin: [String] = []
    @Option(
        help: ArgumentHelp(
            "Let a shared cache that sends its requests as this principal, such as key:<id>, keep the answers of polls for a second; can be "
                + "repeated. '*' stands for everybody, without keys. See docs/operating/shared-caches.md.", valueName: "principal"))
    var edge: [String] = []
    @Option(
        help: ArgumentHelp(
            "Append the audit log to this file, opened again at SIGHUP; 'freshet audit tail' shows it.", valueName: "file"),
        completion: .file())
    var audit: String?
    @Flag(help: "Let everyone who can reach the server make it drop, delay and refuse requests: for tests alone. See docs/testkit.md.")
    var testFaults = false
    @Flag(help: .hidden) var untilInputEnds = false

    /// The options that were given although a configuration file has their settings.
    private var optionsOfTheFile: [String] {
        let options: [(String, Bool)] = [
            ("--host", host != nil), ("--port", port != nil), ("--open", open), ("--require-keys", requireKeys),
            ("--tls-certificate", tlsCertificate != nil), ("--tls-key", tlsKey != nil), ("--tls-client-ca", tlsClientCa != nil),
            ("--admin-socket", adminSocket != nil), ("--recent-limit", recentLimit != nil), ("--request-memory", requestMemory != nil),
            ("--answer-memory", answerMemory != nil),
            ("--connections-per-address", connectionsPerAddress != nil), ("--trusted-proxy", !trustedProxy.isEmpty),
            ("--host-name", !hostName.isEmpty), ("--allow-origin", !allowOrigin.isEmpty), ("--test-faults", testFaults),
            ("--audit", audit != nil),
        ]
        return options.filter(\.1).map(\.0)
    }

    func validate() throws {
        guard config == nil || optionsOfTheFile.isEmpty else {
            throw ValidationError("--config goes without \(optionsOfTheFile.joined(separator: ", ")): the file has these settings")
        }
        guard !(memory && requireKeys) else {
            throw ValidationError("--require-keys goes with --data or --store, where the keys are, and not with --memory")
        }
        guard store == nil || !memory else { throw ValidationError("one of these: --store, --memory") }
        guard postgresNotify == nil || store != nil else { throw ValidationError("--postgres-notify goes with --store") }
        guard postgresCheckInterval == nil || store != nil else { throw ValidationError("--postgres-check-interval goes with --store") }
        if let postgresCheckInterval, !(1...60).contains(postgresCheckInterval) {
            throw ValidationError("--postgres-check-interval takes 1 to 60 seconds, not \(postgresCheckInterval)")
        }
        guard failover == nil || store != nil else { throw ValidationError("--failover goes with --store") }
        guard store == nil || data == nil else { throw ValidationError("one of these: --store, --data") }
        guard data == nil || !memory else { throw ValidationError("one of these: --data, --memory") }
        guard !(testFaults && store != nil) else { throw ValidationError("--test-faults goes without --store") }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together: name both files")
        }
        guard tlsClientCa == nil || tlsCertificate != nil else { throw ValidationError("--tls-client-ca goes with --tls-certificate") }
        guard !(testFaults && tlsCertificate != nil) else { throw ValidationError("--test-faults goes without --tls-certificate") }
        guard audit != "" else { throw ValidationError("--audit takes a file, and this is empty") }
        guard !(testFaults && audit != nil) else { throw ValidationError("--test-faults goes without --audit") }
        guard !(open && requireKeys) else { throw ValidationError("one of these: --open, --require-keys") }
        guard !(memory && restored) else { throw ValidationError("--restored goes with --data or --store, not with --memory") }
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        if let recentLimit, recentLimit < 0 { throw ValidationError("--recent-limit takes 0 or more bytes, not \(recentLimit)") }
        guard (1...Self.mostDays).contains(outcomeRetention) else {
            throw ValidationError("--outcome-retention takes 1 to \(Self.mostDays) days, not \(outcomeRetention)")
        }
        if let connectionsPerAddress, connectionsPerAddress < 1 {
            throw ValidationError("--connections-per-address takes 1 or more, not \(connectionsPerAddress)")
        }
        for text in trustedProxy where AddressRange(text) == nil {
            throw ValidationError("--trusted-proxy takes an IP address or a network such as 10.0.0.0/8, not '\(text)'")
        }
        for text in hostName where !RecordServerConfiguration.isHostName(text) {
            throw ValidationError("--host-name takes a name without scheme, port and path, such as sync.example, or *, not '\(text)'")
        }
        for text in allowOrigin where !RecordServerConfiguration.isOrigin(text) {
            throw ValidationError("--allow-origin takes \(RecordServerConfiguration.originForm), not '\(text)'")
        }
        for text in edge where !Self.isEdge(text) {
            throw ValidationError(
                "--edge takes key:ID with a key's id, ISSUER|SUBJECT of a token, or *, not '\(text)'; 'freshet key list' shows the ids")
        }
        guard !(edge.contains("*") && (requireKeys || config != nil)) else {
            throw ValidationError("--edge '*' goes without keys and tokens: name the principal of the cache, such as key:<id>")
        }
        guard !edge.contains("*") || edge.count == 1 else { throw ValidationError("--edge '*' goes alone: it stands for everybody") }
        guard editLimit > 0 else { throw ValidationError("--edit-limit takes 1 or more bytes, not \(editLimit)") }
    }

    /// Whether the text is a principal that a shared cache can have, or `*`.
    private static func isEdge(_ text: String) -> Bool {
        guard text.hasPrefix("key:") else { return text == "*" || text.contains("|") }
        return KeyIdentifier(String(text.dropFirst(4))) != nil
    }

    func run() async throws {
        guard data != "" else { throw CommandFailure(.usage, "--data takes a folder, and this is empty") }
        try CommandFailure.checkCryptography()
        var base = settings
        let file = try config.map { path throws(CommandFailure) in try ConfigurationFile(path: path) }
        if file != nil {
            do throws(TransportError) { base.fetchKeys = try KeySetFetcher().fetch } catch {
                throw CommandFailure(.software, "no thread for the keys of issuers: \(error.description)")
            }
        }
        var configuration = try file.map { [base] file throws(CommandFailure) in try file.settings(base) } ?? flagged(base)
        if let file {
            configuration.source = { [base] () throws(RecordServerError) in
                do throws(CommandFailure) { return try file.settings(base) } catch { throw .invalidConfiguration(error.message) }
            }
        }
        // A core would have the keys of its clients in it.
        if file != nil, !CoreDumps.disable() { throw CommandFailure(.software, "core dumps cannot be disabled: \(systemReason())") }
        // Every write allocates in SQLite, and so do the threads that read.
        MemoryCount.end()
        LargeAllocations.returnWhenReleased()
        // Shells and service managers grant few by default, for the sake of programs that use select(2); this one does not.
        DescriptorLimit.raise()
        // A program that read the log and has gone must not take the server with it.
        signal(SIGPIPE, SIG_IGN)
        let logger = Logger(label: "freshet")
        let checkInterval = Duration.seconds(postgresCheckInterval ?? 2)
        let shared = try store.map { [listens = postgresNotify != .off, keepsEpochs = failover == .keep] uri throws(CommandFailure) in
            try StoreLocation(uri).shared(listens: listens, keepsEpochs: keepsEpochs, hostCheckInterval: checkInterval, logger: logger)
        }
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        do throws(RecordServerError) {
            if testFaults {
                let server = try FaultServer(configuration, logger: logger)
                services.append(.init(service: await ReloadOnHangup(nil, logger)))
                services.append(.init(service: ServerService(urls: [server.url], server: server)))
            } else {
                let server =
                    shared.map { RecordServer(configuration, sharing: $0, logger: logger) } ?? RecordServer(configuration, logger: logger)
                try server.start()
                let hasFiles = file != nil || base.tls != nil || audit != nil
                services.append(.init(service: await ReloadOnHangup(hasFiles ? server : nil, logger)))
                services.append(.init(service: ServerService(urls: server.addresses.map(\.url), server: server)))
            }
        } catch {
            throw CommandFailure(error)
        }
        if open, !ListeningHost.isLoopback(configuration.host) {
            StandardStream.error.printLine("warning: --open with --host \(configuration.host) means that \(Self.exposure)")
        }
        if testFaults {
            StandardStream.error.printLine(
                "warning: --test-faults lets everyone who can reach this server make it drop, delay and refuse requests; for tests alone")
        }
        var quiet = logger
        quiet.logLevel = .warning
        if untilInputEnds {
            services.append(.init(service: StdinWatcher(), successTerminationBehavior: .gracefullyShutdownGroup))
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await group.run()
    }

    /// The settings that a configuration file does not have.
    private var settings: RecordServerConfiguration {
        var settings = RecordServerConfiguration()
        settings.storage = memory ? .memory : .directory(data ?? Self.defaultData)
        settings.isRestored = restored
        settings.editedBytes = editLimit
        settings.edge = edge
        settings.outcomeRetention = .seconds(outcomeRetention * 86_400)
        if let tlsCertificate, let tlsKey {
            settings.tls = .init(certificates: [.init(chain: tlsCertificate, key: tlsKey)], clientAuthority: tlsClientCa)
        }
        return settings
    }

    /// The settings with those of the options in place of a file.
    private func flagged(_ base: RecordServerConfiguration) throws(CommandFailure) -> RecordServerConfiguration {
        var settings = base
        if let host { settings.host = host }
        guard open || requireKeys || ListeningHost.isLoopback(settings.host) else {
            throw CommandFailure(
                .usage,
                "--host \(settings.host) is beyond loopback, where \(Self.exposure): add --require-keys, or --open if that is meant, or leave "
                    + "--host out")
        }
        settings.port = port ?? Self.defaultPort
        settings.adminSocket = adminSocket
        if let recentLimit { settings.recentTotalBytes = recentLimit }
        if let requestMemory { settings.requestMemory = requestMemory }
        if let answerMemory { settings.answerMemory = answerMemory }
        if let connectionsPerAddress { settings.connectionsPerAddress = connectionsPerAddress }
        if !trustedProxy.isEmpty { settings.trustedProxies = trustedProxy.compactMap(AddressRange.init) }
        settings.hostNames = hostName
        settings.allowedOrigins = allowOrigin
        settings.auditLog = audit
        settings.requiresKeys = requireKeys
        return settings
    }
}

/// A server that runs already, and whose addresses are printed.
private struct ServerService: Service {
    let urls: [String]
    let server: any Service

    func run() async throws {
        // Printed last: the group now handles signals, so a process that reads this line may send them.
        for (index, url) in urls.enumerated() {
            StandardStream.output.printLine((index == 0 ? Serve.readyPrefix : Serve.alsoPrefix) + url)
        }
        do {
            try await withGracefulShutdownHandler {
                try await server.run()
            } onGracefulShutdown: {
                // A second signal means that the operator does not want to wait.
                Task { await ForceQuitOnSecondSignal.endProcess() }
            }
        } catch let error as RecordServerError {
            // The server ran, and has stopped without its audit log.
            throw CommandFailure(.inputOutput, error.description)
        }
    }
}

extension FaultServer: Service {
    func run() async throws {
        try? await gracefulShutdown()
        await stop()
    }
}
