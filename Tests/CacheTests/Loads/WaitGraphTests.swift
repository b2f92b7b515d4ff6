import Testing

@testable import FreshetCache

@Suite struct WaitGraphTests {
    private var graph = WaitGraph<Int>()
    private let isRunning: (Int) -> Bool = { _ in false }

    private mutating func add(_ waiting: Int, for awaited: Int) -> [Int]? { graph.add(waiting, for: awaited, hasEnded: isRunning) }

    @Test mutating func aNodeThatWaitsForItselfIsACycle() {
        #expect(add(1, for: 1) == [1])
        #expect(graph.isEmpty)
    }

    @Test mutating func theWaitThatClosesACycleIsNotAdded() {
        #expect(add(1, for: 2) == nil && add(2, for: 3) == nil)
        // The cycle begins with the awaited node, and ends with the waiting one
        #expect(add(3, for: 1) == [1, 2, 3])
        // And the others go on
        graph.remove(1, for: 2)
        graph.remove(2, for: 3)
        #expect(graph.isEmpty && add(3, for: 1) == nil)
    }

    @Test mutating func severalWaysToOneNodeAreNoCycle() {
        #expect(add(1, for: 2) == nil && add(1, for: 3) == nil && add(2, for: 4) == nil && add(3, for: 4) == nil)
        #expect(add(4, for: 1)?.count == 3)
    }

    @Test mutating func equalWaitsAreCounted() {
        // Given
        #expect(add(1, for: 2) == nil && add(1, for: 2) == nil)
        // When
        graph.remove(1, for: 2)
        // Then
        #expect(add(2, for: 1) == [1, 2])
        graph.remove(1, for: 2)
        #expect(add(2, for: 1) == nil)
        // And a wait that was never added is not removed
        graph.remove(7, for: 8)
        graph.remove(2, for: 8)
        #expect(add(1, for: 2) == [2, 1])
    }

    @Test mutating func aNodeThatHasEndedWaitsForNothing() {
        #expect(add(1, for: 2) == nil)
        #expect(graph.add(2, for: 1, hasEnded: { $0 == 1 }) == nil)
    }

    @Test mutating func aChainOfManyNodesIsFollowed() {
        // One that is long enough to overflow a stack, if each node were a call
        var isChain = true
        for node in 0..<200_000 { isChain = add(node, for: node + 1) == nil && isChain }
        #expect(isChain)
        #expect(add(200_000, for: 0)?.count == 200_001)
    }

    @Test(arguments: 0..<20) func aWaitIsRefusedExactlyIfItClosesACycle(seed: UInt64) {
        var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ bound: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % bound
        }
        var graph = WaitGraph<Int>()
        var waits: [(Int, Int)] = []
        func isReachable(_ end: Int, from start: Int) -> Bool {
            var reached: Set = [start]
            for _ in 0..<8 { for (waiting, awaited) in waits where reached.contains(waiting) { reached.insert(awaited) } }
            return reached.contains(end)
        }
        for _ in 0..<400 {
            if next(3) == 0, let (waiting, awaited) = waits.isEmpty ? nil : waits.remove(at: next(waits.count)) {
                graph.remove(waiting, for: awaited)
                continue
            }
            let (waiting, awaited) = (next(8), next(8))
            let cycle = graph.add(waiting, for: awaited) { _ in false }
            #expect((cycle != nil) == isReachable(waiting, from: awaited))
            if let cycle {
                // Each waits for the next one
                #expect(cycle.first == awaited && cycle.last == waiting)
                for (one, other) in zip(cycle, cycle.dropFirst()) { #expect(waits.contains { $0 == (one, other) }) }
            } else {
                waits.append((waiting, awaited))
            }
        }
        for (waiting, awaited) in waits { graph.remove(waiting, for: awaited) }
        #expect(graph.isEmpty)
    }
}
