import Glibc

/// Numbered writes by `POST /writes`, in a closed loop: each connection is a client that sends its next batch when the last was answered.
struct BatchLoad {
    private struct Writer {
        var connection: Connection
        let client: String
        /// The last number used.
        var number = 0
    }

    private let namespace: String
    private let batch: Int
    /// The number of records that the writes go to in turn, for all writers together.
    private let records: Int
    private let value: [UInt8]
    private var writers: [Writer] = []
    /// The next record's number.
    private var next: Int

    /// - Parameters:
    ///   - first: the number of the first record that is written.
    ///   - run: distinguishes this load's clients from those of others.
    init(port: UInt16, namespace: String, connections: Int, batch: Int, records: Int, bytes: Int, first: Int = 0, run: String) throws {
        self.namespace = namespace
        self.batch = batch
        self.records = records
        next = first
        value = Array(",\"value\":\(HTTPRequest.value(bytes: bytes))}".utf8)
        for index in 0..<connections {
            writers.append(Writer(connection: try Connection(port: port, keepsAnswer: false), client: "\(run)-\(index)"))
        }
    }

    /// Writes for that long; the writes that were answered in each second.
    mutating func run(seconds: Double) throws -> Double {
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let answered = try loop(isOver: { ContinuousClock.now >= end }, until: .max) * batch
        return Double(answered) / (start.duration(to: .now) / .seconds(1))
    }

    /// Writes until the record of that number has been sent, and all has been answered.
    mutating func fill(to end: Int) throws { _ = try loop(isOver: { false }, until: end) }

    /// How many requests were answered.
    private mutating func loop(isOver: () -> Bool, until end: Int) throws -> Int {
        var answered = 0
        var waiting = 0
        for index in writers.indices { if try send(index, until: end) { waiting += 1 } }
        var polls = writers.map { pollfd(fd: $0.connection.descriptor, events: Int16(POLLIN), revents: 0) }
        var scratch = [UInt8](repeating: 0, count: 65_536)
        while waiting > 0 {
            guard poll(&polls, nfds_t(polls.count), 30_000) != 0 else { throw LoadError.silent }
            for index in polls.indices where polls[index].revents != 0 {
                guard try writers[index].connection.receive(into: &scratch) != nil else { continue }
                let status = writers[index].connection.status
                guard status == 200 else { throw LoadError.status(status) }
                waiting -= 1
                answered += 1
                if !isOver(), try send(index, until: end) { waiting += 1 }
            }
        }
        return answered
    }

    /// Whether there was anything to send.
    private mutating func send(_ index: Int, until end: Int) throws -> Bool {
        let count = min(batch, end - next)
        guard count > 0 else { return false }
        var body = Array("{\"client\":\"\(writers[index].client)\",\"writes\":[".utf8)
        body.reserveCapacity(body.count + count * (value.count + 64))
        for _ in 0..<count {
            writers[index].number += 1
            body += body.last == UInt8(ascii: "[") ? "{\"number\":".utf8 : ",{\"number\":".utf8
            Self.append(writers[index].number, to: &body)
            body += ",\"op\":\"put\",\"key\":\"load/".utf8
            Self.append(next % records, to: &body)
            body.append(UInt8(ascii: "\""))
            body += value
            next += 1
        }
        body += "]}".utf8
        try writers[index].connection.send(HTTPRequest.post("/v1/\(namespace)/writes", body))
        return true
    }

    /// Digits without an intermediate string: the load must cost less than the server that it measures.
    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        let start = bytes.count
        var rest = number
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }
}
