import FreshetClient
import FreshetFaultProxy
import FreshetWire
import Glibc
import HTTPTypes

/// A server and two devices on real data, step by step, with every claim checked against the server.
struct DemoScript: Sendable {
    static let namespace = "demo"
    /// Where Debian's package iso-codes puts its tables.
    static let tables = "/usr/share/iso-codes/json"

    let executable: String
    /// The demo's folder, with a subfolder for the server and for each device.
    let folder: String
    var output: DemoOutput
    var server: ServerProcess {
        didSet { slot.server = server }
    }
    private let slot: ServerSlot
    let remote: Remote
    /// Between B and the server.
    let link: FaultProxy
    let a: Device
    let b: Device
    let clock = ContinuousClock()

    init(folder: String, port: Int, slot: ServerSlot, output: DemoOutput) async throws {
        self.folder = folder
        self.slot = slot
        self.output = output
        executable = try ChildProcess.ownExecutable()
        server = try await ServerProcess.start(executable: executable, data: folder + "/server", port: port)
        slot.server = server
        let namespace = try Namespace(Self.namespace)
        remote = try Remote(server: server.url, namespace: namespace)
        link = try FaultProxy(to: server.port)
        a = try Device("A", url: server.url, namespace: namespace, directory: folder + "/a")
        b = try Device("B", url: link.url, namespace: namespace, directory: folder + "/b")
    }

    /// Runs all steps.
    mutating func run() async throws {
        output.report("server    \(server.url), process \(server.process.identifier), data in \(folder)/server")
        output.report("devices   A and B, caches in \(folder)/a and \(folder)/b; B's cable can be pulled")
        try await importTables()
        try await fillCaches()
        try await readFresh()
        try await writeOnAArrivesAtB()
        try await writeOffline()
        try await mergeConflict()
        try await invalidate()
        try await killServer()
    }

    /// Stops the devices and the server; nothing of the demo runs afterwards.
    mutating func end() async {
        await a.client.stop()
        await b.client.stop()
        link.refuse()
        let ending = await server.stop()
        output.check("the server ended as it should", expected: "\(ChildProcess.Ending.exited(0))", seen: "\(ending)")
    }

    /// Prints how to look around, then prints changes until Ctrl-C.
    func serveOn() async throws {
        let base = "\(server.url)/v1/\(Self.namespace)"
        output.print(
            """

            \(output.style.bold("Serving on \(server.url)")), and printing changes as they happen. Ctrl-C ends everything. Look around:

              curl \(base)/records/countries/NZ
              curl -X PUT \(base)/records/trips/2 -H 'Content-Type: application/json' -d '{"title":"Spring","stops":[]}'
              curl '\(base)/changes?since=0&collection=trips'
              \(executable) watch --server \(server.url) --namespace \(Self.namespace)

            """)
        var feed = RemoteFeed(remote: remote, since: .now, filter: .all)
        while true {
            for case .change(let change) in try await feed.events() { output.print(RecordLines.standard.line(for: change)) }
        }
    }

    /// Prints the demo's verdict.
    /// - Throws: ``CommandFailure`` unless every check held.
    func conclude() throws(CommandFailure) {
        guard output.failures.isEmpty else {
            throw CommandFailure(
                .notFound, "\(output.failures.count) of \(output.checks) checks failed: \(output.failures.joined(separator: "; "))")
        }
        output.print("")
        output.print(output.style.green("All \(output.checks) checks held."))
    }

    // MARK: What the steps share

    /// Reads the records that the server now holds, and its position.
    func truth() async throws -> (tier: TierContents, head: Revision) {
        let status = try await remote.ask(.get, remote.namespace.path, as: NamespaceStatus.self)
        var records: [Record] = []
        for collection in ["countries", "languages", "trips", "log", "counters"] {
            records += try await RecordPages.all(remote, collection)
        }
        return (TierContents(records), status.cursor.revision)
    }

    /// Waits until both devices are up to date, then compares memory and disk of both with the server.
    mutating func checkCaches() async throws {
        let (tier, head) = try await truth()
        for device in [a, b] {
            try await within(.seconds(30), "the writes of \(device.name) to be confirmed") { try await device.client.waitUntilDrained() }
            try await device.reached(head)
            let memory = device.memory(of: tier.entries.keys)
            let disk = try device.disk()
            let same = tier.description(against: tier)
            output.check(
                "\(device.name): memory \(same), disk \(same), nothing pending",
                expected: "memory \(same), disk \(same), 0 pending, 0 waiting",
                seen: "memory \(memory.tier.description(against: tier)), disk \(disk.tier.description(against: tier)), "
                    + "\(memory.pending) pending, \(disk.waiting) waiting")
        }
    }

    /// Measures how long `body` takes.
    func measure(_ body: () async throws -> Void) async rethrows -> Duration {
        let start = clock.now
        try await body()
        return clock.now - start
    }
}
