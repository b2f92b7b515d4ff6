import Synchronization

/// A count that one thread at a time changes and any thread reads.
struct Counter: ~Copyable, Sendable {
    private let value = Atomic<Int>(0)

    /// Only one loop at a time owns the count, so a load and a store suffice, and no locked instruction is needed.
    func add(_ amount: Int) {
        value.store(value.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    func set(_ amount: Int) { value.store(amount, ordering: .relaxed) }

    var count: Int { value.load(ordering: .relaxed) }
}

/// Counts of one loop's work for one server.
final class LoopCounters: Sendable {
    let accepted = Counter()
    let connectionsRefused = Counter()
    let connectionsRefusedByAddress = Counter()
    let requests = Counter()
    let responses = Counter()
    let requestsRefused = Counter()
    let slowReadersDropped = Counter()
    let requestsShed = Counter()
    let answersShed = Counter()
    /// Bytes kept at present.
    let requestBytes = Counter()
    let answerBytes = Counter()
    let bytesIn = Counter()
    let bytesOut = Counter()
    let recognised = Counter()
    let receiveCalls = Counter()
    let sendCalls = Counter()
    let watchCalls = Counter()
    let handshakes = Counter()
    let failedHandshakes = Counter()
    let handshakesRefused = Counter()

    func add(to sum: inout HTTPServerStatistics) {
        sum.connectionsAccepted += accepted.count
        sum.connectionsRefused += connectionsRefused.count
        sum.connectionsRefusedByAddress += connectionsRefusedByAddress.count
        sum.requests += requests.count
        sum.responses += responses.count
        sum.requestsRefused += requestsRefused.count
        sum.slowReadersDropped += slowReadersDropped.count
        sum.requestsShed += requestsShed.count
        sum.answersShed += answersShed.count
        sum.bytesIn += bytesIn.count
        sum.bytesOut += bytesOut.count
        sum.requestsRecognised += recognised.count
        sum.receiveCalls += receiveCalls.count
        sum.sendCalls += sendCalls.count
        sum.watchCalls += watchCalls.count
        sum.handshakes += handshakes.count
        sum.failedHandshakes += failedHandshakes.count
        sum.handshakesRefused += handshakesRefused.count
    }
}
