import FreshetWire
import Testing

@testable import FreshetClient

@Suite("The keys that are being read") struct ReadQueueTests {
    private let one = Scene.key("c/1")
    private let two = Scene.key("c/2")

    private func view(_ key: RecordKey) -> KeyView { KeyView(key, nil) }

    private func ask(
        _ queue: inout ReadQueue, _ callerID: Int64, _ keys: RecordKey..., lowerBound: Int64 = 0, mustBeNew: Bool = false
    ) {
        queue.add(CallerID(callerID), keys: keys, deadline: .max)
        for key in keys {
            queue.add(key, known: nil, lowerBound: Scene.revision(lowerBound), waiter: CallerID(callerID), mustBeNew: mustBeNew)
        }
    }

    @Test("callers of one key share it under the highest floor, and each gets its views when its last key is read")
    func shared() {
        // Given
        var queue = ReadQueue()
        ask(&queue, 1, one, two, lowerBound: 5)
        ask(&queue, 2, two, lowerBound: 9)
        ask(&queue, 3, two, lowerBound: 7)
        // Then
        #expect(queue.ready(at: 0) == [one, two] && queue[two]?.lowerBound == Scene.revision(9))
        // When
        let first = queue.finish(two, view(two))
        let second = queue.finish(one, view(one))
        // Then
        #expect(first.map(\.0) == [CallerID(2), CallerID(3)] && second.map(\.0) == [CallerID(1)])
        #expect(second.first?.1.map(\.key) == [one, two] && queue.ready(at: 0).isEmpty)
    }

    @Test("a caller that asks for a key twice gets its view twice, once")
    func twice() {
        // Given
        var queue = ReadQueue()
        ask(&queue, 1, one, two, one)
        // When
        let first = queue.finish(one, view(one))
        let second = queue.finish(two, view(two))
        // Then
        #expect(first.isEmpty && second.map(\.0) == [CallerID(1)] && second.first?.1.map(\.key) == [one, two, one])
    }

    @Test("a caller that comes while a request is under way and wants a newer one is read for after it")
    func newerRequest() {
        // Given
        var queue = ReadQueue()
        ask(&queue, 1, one)
        queue.sent([one])
        // When
        ask(&queue, 2, one, mustBeNew: true)
        ask(&queue, 3, one)
        // Then
        #expect(queue.ready(at: 0).isEmpty)
        queue.requeue([one])
        #expect(queue.finish(one, view(one)).map(\.0) == [CallerID(1), CallerID(3)])
        #expect(queue.ready(at: 0) == [one] && queue.underWay == 0)
        #expect(queue.finish(one, view(one)).map(\.0) == [CallerID(2)])
    }

    @Test("a key that cannot be read fails its callers, whose other keys are read for nobody else any more")
    func failure() {
        // Given
        var queue = ReadQueue()
        ask(&queue, 1, one, two)
        ask(&queue, 2, one)
        // When
        let failed = queue.fail(one)
        // Then
        #expect(failed == [CallerID(1), CallerID(2)] && queue.ready(at: 0).isEmpty && queue[two] == nil)
    }

    @Test("an abandoned key leaves unless another caller, the machine or a request still needs it")
    func abandoned() {
        // Given
        var queue = ReadQueue()
        ask(&queue, 1, one, two)
        ask(&queue, 2, two)
        let own = Scene.key("c/3")
        queue.add(own, known: nil, lowerBound: .zero, waiter: nil)
        ask(&queue, 3, own)
        // When
        queue.abandon(CallerID(1))
        queue.abandon(CallerID(3))
        // Then
        #expect(queue.ready(at: 0) == [two, own])
        // When
        queue.sent([two])
        queue.abandon(CallerID(2))
        queue.abandon(CallerID(2))
        // Then
        #expect(queue[two]?.isUnderWay == true && queue.finish(two, view(two)).isEmpty && queue[two] == nil)
    }

    @Test("a sweep raises the floors of the keys in its scope and lowers none")
    func lowerBounds() {
        // Given
        var queue = ReadQueue()
        let other = Scene.key("d/1")
        ask(&queue, 1, one, lowerBound: 3)
        ask(&queue, 2, two, lowerBound: 9)
        ask(&queue, 3, other, lowerBound: 3)
        // When
        queue.raise(.collection("c", prefix: ""), to: Scene.revision(5))
        queue.raise(.key(other), to: Scene.revision(4))
        queue.raise(.key(Scene.key("c/9")), to: Scene.revision(4))
        // Then
        #expect([one, two, other].map { queue[$0]?.lowerBound } == [5, 9, 4].map(Scene.revision))
        // When another history begins
        queue.resetLowerBounds()
        // Then
        #expect([one, two, other].allSatisfy { queue[$0]?.lowerBound == .zero })
    }

    @Test("dropped responses are asked for again, but for those that are on their way to the disk")
    func released() {
        var queue = ReadQueue()
        ask(&queue, 1, one, two)
        queue.sent([one])
        queue.sent([two])
        queue.release(except: [two])
        #expect(queue.ready(at: 0) == [one])
    }

    @Test("keys keep their place in the line while many others come and go")
    func placesStay() {
        // Given
        var queue = ReadQueue()
        ask(&queue, 1, one)
        for number in 0..<200 as Range<Int64> {
            // When
            ask(&queue, 100 + number, Scene.key("x/\(number % 7)"))
            queue.abandon(CallerID(100 + number))
        }
        ask(&queue, 2, two)
        // Then
        #expect(queue.ready(at: 0) == [one, two])
        // When the first leaves and comes again
        queue.abandon(CallerID(1))
        ask(&queue, 3, one)
        // Then
        #expect(queue.ready(at: 0) == [two, one])
    }

    @Test("waiting callers are returned in the order of their tokens when everything is forgotten")
    func removeAll() {
        var queue = ReadQueue()
        ask(&queue, 7, one)
        ask(&queue, 3, two)
        #expect(queue.removeAll() == [CallerID(3), CallerID(7)])
        #expect(queue.ready(at: 0).isEmpty && queue.removeAll().isEmpty)
    }
}
