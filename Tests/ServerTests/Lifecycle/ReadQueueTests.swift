import Dispatch
import FreshetTrust
import Synchronization
import Testing

@testable import FreshetServer

@Suite("Read queue") struct ReadQueueTests {
    @Test func boundedInWidthAndInLength() async {
        // Given
        let queue = ReadQueue(width: 2, limit: 3)
        let gate = DispatchSemaphore(value: 0)
        let running = DispatchSemaphore(value: 0)
        let done = Atomic<Int>(0)
        let work: ReadQueue.Work = {
            running.signal()
            gate.wait()
            done.add(1, ordering: .relaxed)
        }
        // When
        let accepted = [queue.submit(work), queue.submit(work)]
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "wait").async {
                running.wait()
                running.wait()
                continuation.resume()
            }
        }
        // Then
        #expect(accepted == [true, true] && queue.depth == 0)
        #expect(queue.submit(work) && queue.depth == 1)
        #expect(!queue.submit(work))
        #expect(queue.submit(isContinuation: true, work) && queue.depth == 2)
        // When: a refusal must not leave the others waiting for ever
        for _ in 0..<4 { gate.signal() }
        await withCheckedContinuation { continuation in queue.stop { continuation.resume() } }
        // Then
        #expect(done.load(ordering: .relaxed) == 4)
        #expect(!queue.submit(work))
    }

    @Test("senders take turns, and none has more than a quarter of the work that may wait")
    func sendersTakeTurns() async {
        // Given a queue whose thread is busy, and work of one sender up to its limit
        let queue = ReadQueue(width: 1, limit: 12)
        let (gate, running) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let order = Mutex<[String]>([])
        _ = queue.submit {
            running.signal()
            gate.wait()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "wait").async {
                running.wait()
                continuation.resume()
            }
        }
        let senders = ["a", "b"].map { ReadSender.principal(Principal(issuer: "i", subject: $0)) }
        let accepted = (1...4).map { number in
            queue.submit(of: senders[0]) { order.withLock { $0.append("a\(number)") } }
        }
        // When another sender asks
        let isOtherAccepted = queue.submit(of: senders[1]) { order.withLock { $0.append("b1") } }
        gate.signal()
        await withCheckedContinuation { continuation in queue.stop { continuation.resume() } }
        // Then it waits for one item of the first
        #expect(accepted == [true, true, true, false] && isOtherAccepted)
        #expect(order.withLock { $0 } == ["a1", "b1", "a2", "a3"])
    }

    @Test func theServersOwnWorkComesBeforeThatOfClients() async {
        // Given a queue whose thread is busy, and reads of clients that wait
        let queue = ReadQueue(width: 1, limit: 3)
        let (gate, running) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let order = Mutex<[String]>([])
        _ = queue.submit {
            running.signal()
            gate.wait()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "wait").async {
                running.wait()
                continuation.resume()
            }
        }
        for name in ["client 1", "client 2"] { _ = queue.submit { order.withLock { $0.append(name) } } }
        // When the server has to read, with as many waiting as there may be
        for name in ["feed 1", "feed 2"] { queue.submitUrgent { order.withLock { $0.append(name) } } }
        gate.signal()
        await withCheckedContinuation { continuation in queue.stop { continuation.resume() } }
        // Then
        #expect(order.withLock { $0 } == ["feed 1", "feed 2", "client 1", "client 2"])
    }
}
