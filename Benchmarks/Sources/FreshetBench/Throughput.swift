import ArgumentParser
import Glibc

/// Requests per second with many connections, each sending its next request when the last was answered.
struct Throughput: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Requests per second: --load puts | gets | batches")

    enum Load: String, ExpressibleByArgument { case puts, gets, batches }

    @Option var port: UInt16
    @Option var load: Load
    @Option var connections = 64
    @Option(help: "Seconds to measure, after a quarter of it to warm up.") var seconds = 4.0
    @Option(help: "Bytes of each value.") var size = 100
    @Option(help: "Writes in each request of --load batches.") var batch = 16

    func run() throws {
        var clients = try (0..<connections).map { _ in try Connection(port: port, keepsAnswer: false) }
        var numbers = [Int](repeating: 0, count: connections)
        var polls = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var scratch = [UInt8](repeating: 0, count: 65_536)
        var latencies: [Duration] = []
        for index in clients.indices { try clients[index].send(request(index, &numbers[index])) }
        let begin = ContinuousClock.now + .seconds(seconds / 4)
        let end = begin + .seconds(seconds)
        while ContinuousClock.now < end {
            guard poll(&polls, nfds_t(polls.count), 1_000) >= 0 || errno == EINTR else { throw LoadError.system("poll", errno) }
            for index in polls.indices where polls[index].revents != 0 {
                guard let latency = try clients[index].receive(into: &scratch) else { continue }
                guard (200..<300).contains(clients[index].status) else { throw LoadError.status(clients[index].status) }
                if ContinuousClock.now >= begin { latencies.append(latency) }
                try clients[index].send(request(index, &numbers[index]))
            }
        }
        report(load == .batches ? "writes-in-batches-of-\(batch)" : "\(load)", latencies)
    }

    private func report(_ name: String, _ latencies: [Duration]) {
        let sorted = latencies.sorted()
        guard !sorted.isEmpty else { return print("\(name) 0 /s") }
        let perSecond = Double(sorted.count) * (load == .batches ? Double(batch) : 1) / seconds
        print("\(name) \(Int(perSecond)) /s")
        print("\(name)-p50 \(milliseconds(sorted[sorted.count / 2])) ms")
        print("\(name)-p99 \(milliseconds(sorted[sorted.count * 99 / 100])) ms")
    }

    /// Each connection has keys of its own, 1,000 of them in turn.
    private func request(_ connection: Int, _ number: inout Int) -> [UInt8] {
        number += 1
        let path = "/v1/bench/records/load/\(connection)-\(number % 1_000)"
        switch load {
        case .gets: return Array("GET /v1/bench/records/load/0-1 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        case .puts: return post("PUT \(path)", value(number))
        case .batches:
            let first = (number - 1) * batch + 1
            let writes = (first..<(first + batch)).map {
                "{\"number\":\($0),\"op\":\"put\",\"key\":\"load/\(connection)-\($0 % 1_000)\",\"value\":\(value($0))}"
            }
            return post(
                "POST /v1/bench/writes", "{\"client\":\"bench-\(getpid())-\(connection)\",\"writes\":[\(writes.joined(separator: ","))]}")
        }
    }

    private func value(_ number: Int) -> String {
        let head = "{\"n\":\(number),\"pad\":\""
        return head + String(repeating: "x", count: max(0, size - head.utf8.count - 2)) + "\"}"
    }

    private func post(_ line: String, _ body: String) -> [UInt8] {
        Array("\(line) HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }
}

/// A duration as milliseconds with three digits after the point.
func milliseconds(_ duration: Duration) -> String {
    let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    let fraction = String(1_000 + microseconds % 1_000).dropFirst()
    return "\(microseconds / 1_000).\(fraction)"
}
