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
}
