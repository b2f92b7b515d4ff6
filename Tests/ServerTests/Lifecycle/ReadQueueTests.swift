import Dispatch
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
