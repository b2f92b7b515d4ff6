import CEpoll
import Glibc

/// Many long polls that wait for the records of one collection, one client that changes these records, and writers of
/// another collection: all of them from one thread.
struct LoadClients {
    /// The result of one period.
    struct Report {
        /// Seconds from sending a change to each waiting client's whole answer.
        var latencies: [Double] = []
        /// For each change, the seconds until the last client had it.
        var lasts: [Double] = []
        /// Writes that were accepted; requests that were refused with `Retry-After`, and without.
        var taken = 0
        var refused = 0
        var refusedBare = 0
        /// The length of the period in seconds, to the last answer.
        var seconds = 0.0
        /// The number of answers to each writer.
        var answers: [Int] = []
        /// The seconds that each writer waited for each answer.
        var waits: [Double] = []
        /// Changes that a client did not see within ten seconds of the answer to the change.
        var missed = 0
        /// The seconds until each change was answered.
        var changes: [Double] = []
        /// Changes that were refused, and repeated a tenth of a second later.
        var refusedChanges = 0
    }

    private let namespace: String
    private let poller: Int32
    private var waiters: [WaitingClient] = []
    private var writers: [Writer] = []
    private var publisher: Connection
    private var scratch = [UInt8](repeating: 0, count: 1 << 16)
    private var events = [epoll_event](repeating: epoll_event(), count: 512)
    private var number = 0
    private var isPublisherWatched = false
    private let publisherFields: String

    /// - Parameters:
    ///   - fields: further fields of each waiting client's requests, by its number.
    ///   - publisherFields: those of the client that makes the changes.
    init(port: UInt16, namespace: String, waiting: Int, fields: (Int) -> String = { _ in "" }, publisherFields: String = "") throws {
        self.namespace = namespace
        self.publisherFields = publisherFields
        poller = epoll_create1(Int32(O_CLOEXEC))
        guard poller >= 0 else { throw LoadError.system("epoll_create1", errno) }
        publisher = try Connection(port: port)
        // The first write makes the namespace; every client begins at the position of its answer.
        try publisher.ask(HTTPRequest.put("/v1/\(namespace)/records/start/0", "0", fields: publisherFields))
        guard let start = publisher.field("Freshet-Cursor") else { throw LoadError.noCursor }
        waiters.reserveCapacity(waiting)
        for index in 0..<waiting {
            var connection = try Connection(port: port, source: 1 + index / 6_000)
            let fields = fields(index)
            var cursor = start
            if !fields.isEmpty {
                // The position of a reader with rights contains them, so each gets its own.
                try connection.ask(HTTPRequest.get("/v1/\(namespace)/changes?since=now&collection=w", fields: fields))
                cursor = connection.field("Freshet-Cursor") ?? start
            }
            waiters.append(WaitingClient(connection: connection, cursor: cursor, fields: fields))
            try watch(connection, UInt64(index))
            try waiters[index].poll(namespace)
        }
        try awaitWaiting()
    }

    /// Closes all connections.
    func leave() {
        for descriptor in waiters.map(\.connection.descriptor) + writers.map(\.connection.descriptor) + [publisher.descriptor, poller] {
            close(descriptor)
        }
    }

    /// Makes a change, waits until all clients have it, and makes the next no sooner than `interval` after it, for
    /// `seconds` seconds.
    ///
    /// - Parameter writers: clients that write records of another collection meanwhile, each its next when its last was
    ///   answered; one that is refused retries a tenth of a second later.
    /// - Parameter batch: how many writes each of them sends at once, by `POST /writes`; 0: one by `PUT`.
    mutating func run(port: UInt16, seconds: Double, interval: Duration, writers count: Int = 0, batch: Int = 0) throws -> Report {
        var report = Report()
        report.answers = [Int](repeating: 0, count: count)
        var resting: [(due: ContinuousClock.Instant, writer: Int)] = []
        for index in writers.count..<max(writers.count, count) {
            writers.append(Writer(connection: try Connection(port: port, source: 9), index: index))
            try watch(writers[index].connection, Self.writerMark | UInt64(index))
        }
        for index in 0..<count { try writers[index].send(batch, in: namespace) }
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        var due = ContinuousClock.now
        var sent: ContinuousClock.Instant?
        var answered: ContinuousClock.Instant?
        var seen = 0
        var writing = count
        while ContinuousClock.now < end || sent != nil || writing > 0 {
            if sent == nil, ContinuousClock.now >= due, ContinuousClock.now < end {
                number += 1
                seen = 0
                sent = .now
                answered = nil
                due = .now + interval
                try publisher.send(HTTPRequest.put("/v1/\(namespace)/records/w/\(number)", "\(number)", fields: publisherFields))
                if !isPublisherWatched { try watch(publisher, Self.publisherMark) }
                isPublisherWatched = true
            }
            while let first = resting.first, first.due <= .now {
                resting.removeFirst()
                try writers[first.writer].send(batch, in: namespace)
                writing += 1
            }
            let ready = epoll_wait(poller, &events, 512, 2)
            for event in events.prefix(max(0, Int(ready))) {
                let mark = event.data.u64
                if mark == Self.publisherMark {
                    guard let wait = try publisher.receive(into: &scratch) else { continue }
                    answered = .now
                    report.changes.append(wait / .seconds(1))
                    if publisher.status == 503, sent != nil {
                        report.refusedChanges += 1
                        number -= 1
                        sent = nil
                        due = .now + .milliseconds(100)
                    } else if publisher.status >= 300 {
                        // A change that failed never arrives: report it rather than wait for it.
                        throw LoadError.status(publisher.status)
                    }
                } else if mark & Self.writerMark != 0 {
                    let index = Int(mark & ~Self.writerMark)
                    guard let wait = try writers[index].connection.receive(into: &scratch) else { continue }
                    writing -= 1
                    report.waits.append(wait / .seconds(1))
                    report.answers[index] += 1
                    let isRefused = try tally(writers[index].connection, max(batch, 1), into: &report)
                    if !isRefused { writers[index].taken(batch) }
                    guard ContinuousClock.now < end else { continue }
                    if isRefused {
                        resting.append((.now + .milliseconds(100), index))
                    } else {
                        try writers[index].send(batch, in: namespace)
                        writing += 1
                    }
                } else if try waiters[Int(mark)].receive(&scratch) {
                    if waiters[Int(mark)].seen == number, let sent { report.latencies.append(sent.duration(to: .now) / .seconds(1)) }
                    if waiters[Int(mark)].seen == number { seen += 1 }
                    try waiters[Int(mark)].poll(namespace)
                }
            }
            // A client may receive the change before the change itself is answered; the next change is sent only after
            // that answer.
            guard let began = sent else { continue }
            guard let answered else {
                if began.duration(to: .now) > .seconds(30) { throw LoadError.silent }
                continue
            }
            if seen == waiters.count {
                report.lasts.append(began.duration(to: .now) / .seconds(1))
                sent = nil
            } else if answered.duration(to: .now) > .seconds(10) {
                report.missed += waiters.count - seen
                sent = nil
            }
        }
        report.seconds = start.duration(to: .now) / .seconds(1)
        return report
    }

    /// The number of changes that clients saw twice, or out of order.
    var disordered: Int { waiters.reduce(0) { $0 + $1.disordered } }

    private static let writerMark: UInt64 = 1 << 32
    private static let publisherMark: UInt64 = 1 << 33

    /// Whether the answer was a refusal.
    private func tally(_ connection: Connection, _ writes: Int, into report: inout Report) throws -> Bool {
        switch connection.status {
        case 200..<300:
            report.taken += writes
            return false
        case 503, 429:
            if connection.field("Retry-After") == nil { report.refusedBare += 1 } else { report.refused += 1 }
            return true
        default: throw LoadError.status(connection.status)
        }
    }

    private func watch(_ connection: Connection, _ mark: UInt64) throws {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = mark
        guard epoll_ctl(poller, EPOLL_CTL_ADD, connection.descriptor, &event) == 0 else { throw LoadError.system("epoll_ctl", errno) }
    }

    /// Polls the server until it reports that all clients wait, and so that all handshakes are done.
    private mutating func awaitWaiting() throws {
        for _ in 0..<10_000 {
            if try publisher.ask(HTTPRequest.get("/v1/\(namespace)", fields: publisherFields)).contains("\"waiting\":\(waiters.count)") {
                return
            }
            usleep(2_000)
        }
        throw LoadError.notWaiting
    }
}
