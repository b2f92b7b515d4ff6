import ArgumentParser
import CEpoll
import Glibc

/// Parks many long polls, makes changes at random moments, and proves that every waiter saw each of them once and in order.
struct Waiters: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Many waiting long polls: nothing lost, memory for each.")

    @Option var port: UInt16
    @Option(help: "The server's process, to read its memory from.") var pid: Int32
    @Option var connections = 5_000
    @Option var changes = 1_000
    @Option(help: "The longest pause between two changes, in milliseconds; the pauses are random.") var pause = 20.0
    @Option var seed: UInt64 = 1

    func run() throws {
        var limit = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        let namespace = "waiters-\(getpid())"
        var publisher = try Connection(port: port)
        var scratch = [UInt8](repeating: 0, count: 1 << 16)
        // The first write makes the namespace; its answer's position is where everybody begins.
        let start = try cursor(of: exchange(&publisher, put(namespace, "start/0", "0"), &scratch))

        let before = try residentKiB()
        let poller = epoll_create1(0)
        guard poller >= 0 else { throw LoadError.system("epoll_create1", errno) }
        var waiters: [Waiter] = []
        waiters.reserveCapacity(connections)
        for index in 0..<connections {
            let connection = try Connection(port: port)
            var event = epoll_event()
            event.events = EPOLLIN.rawValue
            event.data.u64 = UInt64(index)
            guard epoll_ctl(poller, EPOLL_CTL_ADD, connection.descriptor, &event) == 0 else { throw LoadError.system("epoll_ctl", errno) }
            waiters.append(Waiter(connection: connection, cursor: start))
            try waiters[index].poll(namespace)
        }
        try awaitWaiting(connections, namespace, &publisher, &scratch)
        let after = try residentKiB()
        print("waiting-memory \(Double((after - before) * 1_000 / connections) / 1_000) KiB/client")

        var random = SplitMix(state: seed)
        var next = 1
        var due = ContinuousClock.now
        var events = [epoll_event](repeating: epoll_event(), count: 512)
        let deadline = ContinuousClock.now + .seconds(300)
        while waiters.contains(where: { $0.seen < changes }) {
            guard ContinuousClock.now < deadline else { break }
            if next <= changes, ContinuousClock.now >= due {
                _ = try exchange(&publisher, put(namespace, "w/\(next)", "\(next)"), &scratch)
                next += 1
                due = .now + .microseconds(Int64(Double(random.next() % 1_000_000) / 1_000_000 * pause * 1_000))
            }
            let count = epoll_wait(poller, &events, 512, 1)
            for event in events.prefix(max(0, Int(count))) {
                let index = Int(event.data.u64)
                if try waiters[index].receive(&scratch) { try waiters[index].poll(namespace) }
            }
        }
        let lost = waiters.reduce(0) { $0 + changes - min($1.seen, changes) }
        let disordered = waiters.reduce(0) { $0 + $1.disordered }
        print("waiters \(connections) changes \(changes) lost \(lost) disordered-or-repeated \(disordered)")
        guard lost == 0, disordered == 0 else { throw ExitCode.failure }
    }

    private func put(_ namespace: String, _ key: String, _ value: String) -> [UInt8] {
        Array(
            "PUT /v1/\(namespace)/records/\(key) HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: \(value.utf8.count)\r\n\r\n\(value)"
                .utf8)
    }

    private func exchange(_ connection: inout Connection, _ request: [UInt8], _ scratch: inout [UInt8]) throws -> String {
        try connection.send(request)
        while try connection.receive(into: &scratch) == nil {}
        guard (200..<300).contains(connection.status) else { throw LoadError.status(connection.status) }
        return connection.answer
    }

    private func cursor(of answer: String) throws -> String {
        guard let cursor = Waiter.field("Freshet-Cursor", in: answer) else { throw LoadError.noCursor }
        return cursor
    }

    /// Asks the server until it says that all are waiting: the handshakes have been worked off.
    private func awaitWaiting(_ count: Int, _ namespace: String, _ connection: inout Connection, _ scratch: inout [UInt8]) throws {
        let request = Array("GET /v1/\(namespace) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        for _ in 0..<10_000 {
            if try exchange(&connection, request, &scratch).contains("\"waiting\":\(count)") { return }
            usleep(2_000)
        }
        throw LoadError.notWaiting
    }

    private func residentKiB() throws -> Int {
        guard let file = fopen("/proc/\(pid)/status", "r") else { throw LoadError.system("open /proc/\(pid)/status", errno) }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("VmRSS:") { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }
}

/// One waiting client: follows the feed by its cursor and counts what it sees.
private struct Waiter {
    var connection: Connection
    var cursor: String
    /// The number of the last change seen; they are numbered from 1.
    var seen = 0
    var disordered = 0

    init(connection: Connection, cursor: String) {
        self.connection = connection
        self.cursor = cursor
    }

    mutating func poll(_ namespace: String) throws {
        try connection.send(Array("GET /v1/\(namespace)/changes?since=\(cursor)&wait=60&collection=w HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    }

    /// Whether a whole answer came.
    mutating func receive(_ scratch: inout [UInt8]) throws -> Bool {
        guard try connection.receive(into: &scratch) != nil else { return false }
        guard connection.status == 200 || connection.status == 204 else { throw LoadError.status(connection.status) }
        let answer = connection.answer
        guard let cursor = Self.field("Freshet-Cursor", in: answer) else { throw LoadError.noCursor }
        self.cursor = cursor
        for part in answer.split(separator: "\"key\":\"w/").dropFirst() {
            let number = Int(part.prefix { $0.isNumber }) ?? 0
            if number != seen + 1 { disordered += 1 }
            seen = number
        }
        return true
    }

    static func field(_ name: String, in answer: String) -> String? {
        guard let line = answer.split(separator: "\r\n").first(where: { $0.hasPrefix("\(name):") }) else { return nil }
        return String(line.dropFirst(name.count + 1).drop { $0 == " " })
    }
}

/// A small generator with a seed, so that a run can be repeated (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
