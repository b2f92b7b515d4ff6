/// Scenarios that reach states which few runs reach, and where each of them does.
///
/// For each triple it keeps the entry that reaches it in the fewest steps, cut off behind the incident after which it
/// does. An entry that is the shortest way to no triple leaves.
struct Corpus {
    /// The visits of a triple and the shortest way to it.
    private struct Cell {
        var triple: Triple
        /// How many runs have covered it.
        var visits: Int
        /// The shortest way there; `nil` where only runs that are too long to mutate came by.
        var way: Way?
    }

    private struct Way {
        var entry: Int
        var reach: FirstVisit
    }

    private struct Entry {
        var scenario: Scenario
        /// How many triples it is the shortest way to.
        var uses: Int
    }

    /// A place to search on from: a scenario, and where in it something rare is reached.
    struct Place {
        var scenario: Scenario
        var reach: FirstVisit
    }

    private var cells: [Cell] = []
    private var indices: [Triple: Int] = [:]
    private var entries: [Int: Entry] = [:]
    private var lastEntry = 0
    /// The cells that have a way, by their families.
    private var reachable: [[Int]] = Array(repeating: [], count: Triple.Family.allCases.count)

    /// How many triples have been covered.
    var triples: Int { cells.count }

    /// How many entries there are.
    var count: Int { entries.count }

    /// The entries by their numbers.
    var scenarios: [Int: Scenario] { entries.mapValues(\.scenario) }

    /// Takes in what a run covered. O(what it covered).
    /// - Parameter longest: ways with more steps are counted and not kept.
    /// - Returns: how many of the triples were never covered before.
    @discardableResult
    mutating func add(_ scenario: Scenario, _ covered: [TripleVisit], longest: Int) -> Int {
        let number = lastEntry + 1
        var (uses, end, new) = (0, 0, 0)
        for item in covered {
            let isShort = item.reach.steps <= longest
            let way = Way(entry: number, reach: item.reach)
            if let index = indices[item.triple] {
                cells[index].visits += 1
                guard isShort, isShorter(item.reach, cells[index].way?.reach) else { continue }
                if let old = cells[index].way { release(old.entry) } else { reachable[item.triple.family].append(index) }
                cells[index].way = way
            } else {
                new += 1
                indices[item.triple] = cells.count
                if isShort { reachable[item.triple.family].append(cells.count) }
                cells.append(Cell(triple: item.triple, visits: 1, way: isShort ? way : nil))
                guard isShort else { continue }
            }
            uses += 1
            end = max(end, item.reach.incidents)
        }
        guard uses > 0 else { return new }
        lastEntry = number
        var entry = scenario
        entry.incidents = Array(scenario.incidents.prefix(end))
        entries[number] = Entry(scenario: entry, uses: uses)
        return new
    }

    /// Only a much shorter way replaces another: else entries would come and go for nothing.
    private func isShorter(_ reach: FirstVisit, _ old: FirstVisit?) -> Bool {
        guard let old else { return true }
        return reach.steps * 3 < old.steps * 2
    }

    private mutating func release(_ number: Int) {
        guard var entry = entries[number] else { return }
        entry.uses -= 1
        entries[number] = entry.uses > 0 ? entry : nil
    }

    /// Drops entries until there are no more than `limit`: ways to triples that many runs cover go first, by
    /// tournaments.
    mutating func trim(to limit: Int, _ random: inout RandomSource) {
        while entries.count > limit {
            var worst: (visits: Int, family: Triple.Family, place: Int)?
            for _ in 0..<8 {
                guard let (family, place) = anyReachable(&random) else { return }
                let visits = cells[reachable[family][place]].visits
                if worst.map({ visits > $0.visits }) ?? true { worst = (visits, family, place) }
            }
            guard let worst else { return }
            let index = reachable[worst.family][worst.place]
            reachable[worst.family].swapAt(worst.place, reachable[worst.family].count - 1)
            reachable[worst.family].removeLast()
            if let way = cells[index].way.take() { release(way.entry) }
        }
    }

    /// One of the cells that have a way, all alike.
    private func anyReachable(_ random: inout RandomSource) -> (family: Triple.Family, place: Int)? {
        let count = reachable.reduce(0) { $0 + $1.count }
        guard count > 0 else { return nil }
        var place = random.below(count)
        for family in Triple.Family.allCases {
            if place < reachable[family].count { return (family, place) }
            place -= reachable[family].count
        }
        return nil
    }

    /// A place to search on from, by a tournament: of some triples of one family, the one with the fewest visits and
    /// the shortest way.
    func place(_ random: inout RandomSource) -> Place? {
        let families = Triple.Family.allCases.filter { !reachable[$0].isEmpty }
        guard !families.isEmpty else { return nil }
        let choice = reachable[random.pick(families)]
        var best: (cost: Int, way: Way)?
        for _ in 0..<8 {
            let cell = cells[random.pick(choice)]
            guard let way = cell.way else { continue }
            let cost = cell.visits * (way.reach.steps + 150)
            if best.map({ cost < $0.cost }) ?? true { best = (cost, way) }
        }
        guard let way = best?.way, let entry = entries[way.entry] else { return nil }
        return Place(scenario: entry.scenario, reach: way.reach)
    }
}

extension [[Int]] {
    fileprivate subscript(family: Triple.Family) -> [Int] {
        get { self[Int(family.rawValue)] }
        set { self[Int(family.rawValue)] = newValue }
    }
}
