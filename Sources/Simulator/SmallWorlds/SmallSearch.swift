package import FreshetWire

/// Takes a small world through every order of events, each state once.
///
/// The search goes through the states by the number of events that lead to them, so the first violation found has the fewest. Steps that
/// the environment does not choose (a disk that is done, a response that arrives, a back-off that ends) are not counted, but their order
/// among themselves and among the events is tried like any other.
package struct SmallSearch {
    package struct Outcome: Sendable {
        /// States visited.
        package var states = 0
        /// Steps taken from them.
        package var transitions = 0
        /// States that were taken to rest.
        package var settled = 0
        /// The number of events in the longest path; below the bound where nothing more can happen.
        package var depth = 0
        /// Whether the bound on states ended the search.
        package var isCutShort = false
        package var violation: Violation?
    }

    package struct Violation: Sendable {
        package var failure: SmallFailure
        /// The whole path to it.
        package var moves: [SmallMove]
        /// Whether it shows only after all faults have ended.
        package var isAtRest: Bool

        /// The number of events that were chosen, without those that lead to rest.
        package var events: Int

        /// The rule, the failure, and a line for each step that leads there.
        package var text: String {
            let when = isAtRest ? " and once all faults have ended" : ""
            let title = "rule \(failure.rule), after \(events) events\(when): \(failure.text)"
            return ([title] + moves.map { "  \($0)" }).joined(separator: "\n")
        }
    }

    private let setup: SmallSetup
    private let events: Int
    private let choices: Int
    /// One in so many states is taken to rest.
    private let restInterval: Int
    private let stateLimit: Int

    /// A state to go on from.
    private struct Node {
        var world: SmallWorld
        /// Its place among the paths; -1 for the beginning.
        var place: Int32
        /// How many more events it may take.
        var left: Int
    }

    private var outcome = Outcome()
    private var visited: Set<SmallFingerprint> = []
    /// States that were reached with the last event only: they are gone on from at once instead of being kept, and once more where fewer events
    /// lead to them.
    private var visitedLast: Set<SmallFingerprint> = []
    /// How each state was reached first.
    private var paths: [(from: Int32, move: SmallMove)] = []

    /// - Parameters:
    ///   - events: the most events of a path.
    ///   - choices: the most of them that are no exchanges with the server.
    ///   - restInterval: one in so many states is taken to rest.
    package init(_ setup: SmallSetup, events: Int, choices: Int = .max, restInterval: Int, stateLimit: Int = .max) {
        self.setup = setup
        self.events = events
        self.choices = choices
        self.restInterval = restInterval
        self.stateLimit = stateLimit
    }

    package mutating func run() throws(WireError) -> Outcome {
        var first = try SmallWorld(setup)
        visited.insert(first.fingerprint)
        if let failure = first.failure { note(failure, at: -1, isAtRest: false) }
        var level = [Node(world: first, place: -1, left: events)]
        while outcome.violation == nil, !outcome.isCutShort, !level.isEmpty {
            level = expand(level)
        }
        outcome.states = visited.count + visitedLast.count
        return outcome
    }

    /// Goes through all states that as many events lead to, and returns those with one more.
    private mutating func expand(_ level: [Node]) -> [Node] {
        var (level, next) = (level, [Node]())
        while let node = level.popLast() {
            outcome.depth = max(outcome.depth, events - node.left)
            for move in node.world.moves(within: node.left, choices: choices) {
                var reached = Node(world: node.world, place: node.place, left: node.left - (move.kind == nil ? 0 : 1))
                reached.world.apply(move)
                outcome.transitions += 1
                if let failure = reached.world.failure {
                    note(failure, by: [move], at: node.place, isAtRest: false)
                    continue
                }
                guard visit(&reached.world, isLast: reached.left == 0) else { continue }
                paths.append((node.place, move))
                reached.place = Int32(paths.count - 1)
                if paths.count % restInterval == 0 {
                    outcome.settled += 1
                    if let (failure, rest) = reached.world.settled() {
                        note(failure, by: rest, at: reached.place, isAtRest: true)
                    }
                }
                if move.kind == nil || reached.left == 0 { level.append(reached) } else { next.append(reached) }
            }
            outcome.isCutShort = paths.count >= stateLimit
            if outcome.isCutShort { return [] }
        }
        return next
    }

    /// Whether the state is new.
    private mutating func visit(_ world: inout SmallWorld, isLast: Bool) -> Bool {
        let fingerprint = world.fingerprint
        if isLast { return !visited.contains(fingerprint) && visitedLast.insert(fingerprint).inserted }
        guard visited.insert(fingerprint).inserted else { return false }
        visitedLast.remove(fingerprint)
        return true
    }

    /// Keeps the violation with the fewest events.
    private mutating func note(_ failure: SmallFailure, by last: [SmallMove] = [], at place: Int32, isAtRest: Bool) {
        var moves = Array(last.reversed())
        var place = Int(place)
        while paths.indices.contains(place) {
            moves.append(paths[place].move)
            place = Int(paths[place].from)
        }
        let events = moves.dropFirst(isAtRest ? last.count : 0).count { $0.kind != nil }
        if let earlier = outcome.violation, earlier.events <= events { return }
        outcome.violation = Violation(failure: failure, moves: moves.reversed(), isAtRest: isAtRest, events: events)
    }
}
