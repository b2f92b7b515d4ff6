import FreshetServer
import FreshetWire
import Testing

/// Every order of arrivals and turns of small systems of lanes.
@Suite("Lanes of commits") struct CommitLanesTests {
    /// An element, and where it belongs.
    private struct Element: Hashable, Sendable {
        var number: Int
        var place: CommitLanes<Element>.Destination
    }

    /// A state of the lanes, with all that has happened.
    private struct State {
        var lanes: CommitLanes<Element>
        var appended = 0
        var taken: [Element] = []
        /// The groups in progress, by lane.
        var inProgress: [Int: [Element]] = [:]
        /// The lanes that have been started and have not asked yet.
        var started: Set<Int> = []
        var trace: [String] = []

        func appending(at place: CommitLanes<Element>.Destination) -> State {
            var next = self
            let element = Element(number: appended, place: place)
            next.appended += 1
            next.trace.append("append \(element.number) at \(place)")
            if let lane = next.lanes.append(element, WriteLoad(writes: 1), at: place) { next.started.insert(lane) }
            return next
        }

        /// The lane's group has ended, if it had one, and it asks for the next.
        func turning(_ lane: Int) -> State {
            var next = self
            next.started.remove(lane)
            next.taken += next.inProgress.removeValue(forKey: lane) ?? []
            let turn = next.lanes.next(lane, now: 0)
            next.trace.append("turn of \(lane)")
            if !turn.group.isEmpty { next.inProgress[lane] = turn.group }
            next.started.formUnion(turn.starts)
            return next
        }

        /// The rule that the state breaks, if any.
        var flaw: String? {
            let exclusive = inProgress.values.filter { $0.contains { $0.place == .everywhere } }
            guard exclusive.isEmpty || inProgress.count == 1 else { return "an exclusive group is not alone" }
            for (lane, group) in inProgress {
                guard let place = group.first?.place, group.allSatisfy({ $0.place == place }) else { return "a mixed group" }
                guard place == .lane(lane) || place == .everywhere else { return "a group of another lane" }
            }
            for place in Set(taken.map(\.place)) {
                let numbers = taken.filter { $0.place == place }.map(\.number)
                guard numbers == numbers.sorted() else { return "another order" }
            }
            guard lanes.count == 0 || !inProgress.isEmpty || !started.isEmpty else { return "something waits for nothing" }
            return nil
        }
    }

    /// Counts the orders, and stops at the first flaw.
    private struct Search {
        let width: Int
        let limit: Int
        var orders = 0

        mutating func flaw(after state: State) -> String? {
            if let flaw = state.flaw { return "\(flaw): \(state.trace.joined(separator: ", "))" }
            let places = state.appended < limit ? (0..<width).map(CommitLanes<Element>.Destination.lane) + [.everywhere] : []
            let next = places.map(state.appending) + state.started.union(state.inProgress.keys).sorted().map(state.turning)
            for state in next { if let flaw = flaw(after: state) { return flaw } }
            guard next.isEmpty else { return nil }
            orders += 1
            let isComplete = state.taken.count == limit && Set(state.taken).count == limit && state.lanes.isIdle && state.lanes.count == 0
            return isComplete ? nil : "something is lost or done twice: \(state.trace.joined(separator: ", "))"
        }
    }

    @Test(arguments: [(1, 5), (2, 4), (3, 4)])
    func allOrders(_ width: Int, _ limit: Int) throws {
        var limits = CommitQueue<Element>.Limits()
        // So that several groups are needed.
        limits.groupWrites = 1
        var search = Search(width: width, limit: limit)
        #expect(search.flaw(after: State(lanes: CommitLanes(width, limits))) == nil)
        #expect(search.orders > 1_000)
    }

    @Test func whoeverFindsNobodyAtItHasToBegin() {
        var lanes = CommitLanes<Int>(1)
        let one = WriteLoad(writes: 1)
        #expect(lanes.append(1, one, at: .lane(0)) == 0)
        #expect(lanes.append(2, one, at: .everywhere) == nil)
        #expect(lanes.next(0, now: 0).group == [1, 2])
        #expect(lanes.append(3, one, at: .lane(0)) == nil)
        #expect(lanes.next(0, now: 0).group == [3])
        #expect(!lanes.isIdle)
        #expect(lanes.next(0, now: 0).group.isEmpty && lanes.isIdle)
        #expect(lanes.append(4, one, at: .everywhere) == 0)
    }

    @Test func anExclusiveGroupWaitsForTheWorkThatWasThereAndNoLonger() {
        // Given two lanes with a group in progress and two more that wait
        var limits = CommitQueue<Int>.Limits()
        limits.groupWrites = 1
        var lanes = CommitLanes<Int>(2, limits)
        let one = WriteLoad(writes: 1)
        #expect(lanes.append(1, one, at: .lane(0)) == 0)
        #expect(lanes.next(0, now: 0).group == [1])
        #expect(lanes.append(2, one, at: .lane(0)) == nil)
        #expect(lanes.append(3, one, at: .lane(0)) == nil)
        // When exclusive ones come
        #expect(lanes.append(10, one, at: .everywhere) == nil)
        #expect(lanes.append(11, one, at: .everywhere) == nil)
        // And a lane that has been idle
        #expect(lanes.append(4, one, at: .lane(1)) == nil)
        // Then the first lane takes one more group, and the exclusive one is the next
        #expect(lanes.next(0, now: 0).group == [2])
        #expect(lanes.next(0, now: 0).group == [10])
        #expect(lanes.append(5, one, at: .lane(1)) == nil)
        // And before the second exclusive one each lane has its turn
        let turn = lanes.next(0, now: 0)
        #expect(turn.group == [3] && turn.starts == [1])
        #expect(lanes.next(1, now: 0).group == [4])
        #expect(lanes.next(0, now: 0).group.isEmpty)
        #expect(lanes.next(1, now: 0).group == [11])
        let last = lanes.next(1, now: 0)
        #expect(last.group == [5] && last.starts.isEmpty)
        #expect(lanes.next(1, now: 0).group.isEmpty && lanes.isIdle)
    }

    @Test func theBoundIsThatOfAllLanesTogether() throws {
        // Given
        var limits = CommitQueue<Int>.Limits()
        limits.waiting = 3
        var lanes = CommitLanes<Int>(2, limits)
        let one = WriteLoad(writes: 1)
        for number in 1...2 { _ = lanes.append(number, one, at: .lane(0)) }
        #expect(lanes.accepts(one, at: .lane(1), now: 0))
        // When
        _ = lanes.append(3, one, at: .lane(1))
        // Then
        for place in [CommitLanes<Int>.Destination.lane(0), .lane(1), .everywhere] { #expect(!lanes.accepts(one, at: place, now: 0)) }
        #expect(lanes.count == 3)
    }

    @Test func aNamespaceHasOneLaneAndManyNamespacesUseAll() throws {
        let namespaces = try (0..<400).map { try Namespace("tenant-\($0)") }
        let places = namespaces.map { CommitLanes<Int>.Destination($0, of: 4) }
        #expect(places == namespaces.map { CommitLanes<Int>.Destination($0, of: 4) })
        for lane in 0..<4 { #expect((60...140).contains(places.count { $0 == .lane(lane) })) }
        #expect(namespaces.allSatisfy { CommitLanes<Int>.Destination($0, of: 1) == .lane(0) })
    }

    @Test func whatIsLeftOverOfAnExclusiveGroupStaysExclusive() {
        // Given
        var lanes = CommitLanes<Int>(2)
        let one = WriteLoad(writes: 1)
        _ = lanes.append(1, one, at: .everywhere)
        _ = lanes.append(2, one, at: .everywhere)
        #expect(lanes.next(0, now: 0).group == [1, 2])
        _ = lanes.append(3, one, at: .lane(1))
        // When a transaction has left the second one over
        lanes.putBack([(2, one)], isFirstBegun: false, touched: 0, lane: 0)
        // Then it is alone again, after the lane that waited
        let turn = lanes.next(0, now: 0)
        #expect(turn.group.isEmpty && turn.starts == [1])
        #expect(lanes.next(1, now: 0).group == [3])
        #expect(lanes.next(1, now: 0).group == [2])
    }
}
