import FreshetPlatform
import Testing

@Suite("Elements for many streams")
struct BroadcastTests {
    @Test("each stream gets its first element and all later ones, and ends") func delivery() async {
        // Given a stream, and another that begins after an element was sent
        let broadcast = Broadcast<Int>(keepingLatest: 8)
        let early = broadcast.stream(first: 0)
        broadcast.send(1)
        let late = broadcast.stream()
        // When another is sent and all end
        broadcast.send(2)
        broadcast.finish()
        // Then each has the elements sent since it was made, and a later stream does not end with them
        #expect(await collect(early) == [0, 1, 2])
        #expect(await collect(late) == [2])
        let next = broadcast.stream(first: 3)
        broadcast.finish()
        #expect(await collect(next) == [3])
    }

    @Test("a slow consumer loses the oldest elements") func limit() async {
        let broadcast = Broadcast<Int>(keepingLatest: 2)
        let stream = broadcast.stream()
        for number in 1...5 { broadcast.send(number) }
        broadcast.finish()
        #expect(await collect(stream) == [4, 5])
    }

    private func collect(_ stream: AsyncStream<Int>) async -> [Int] {
        var found: [Int] = []
        for await element in stream { found.append(element) }
        return found
    }
}
