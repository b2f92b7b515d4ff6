import Testing

/// A reference implementation of the cache, as simple as possible: arrays that are searched from end to end.
struct PlainCache {
    struct Entry {
        var value: Int
        var cost: Int
        var deadline: Int64
        var frequency = 0
    }

    var entries: [Int: Entry] = [:]
    /// Keys from the oldest to the newest.
    var small: [Int] = []
    var main: [Int] = []
    var ghosts: [Int] = []
    var hasRemembered = false
    var pinned: Set<Int> = []
    let costLimit: Int
    let countLimit: Int
    var evictions = 0

    init(costLimit: Int, countLimit: Int) {
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    var totalCost: Int { cost(of: Array(entries.keys)) }

    func cost(of keys: [Int]) -> Int { keys.reduce(0) { $0 + (entries[$1]?.cost ?? 0) } }

    mutating func read(_ key: Int, at now: Int64) -> Int? {
        guard let entry = entries[key] else { return nil }
        guard entry.deadline > now else {
            remove(key)
            return nil
        }
        entries[key]?.frequency = min(3, entry.frequency + 1)
        return entry.value
    }

    mutating func remove(_ key: Int) {
        entries[key] = nil
        small.removeAll { $0 == key }
        main.removeAll { $0 == key }
    }

    mutating func set(_ key: Int, _ value: Int, cost: Int, deadline: Int64, at now: Int64) -> Bool {
        let held = entries.keys.filter { pinned.contains($0) }
        guard pinned.contains(key) || (cost <= costLimit - self.cost(of: held) && held.count < countLimit) else {
            remove(key)
            return false
        }
        if let old = entries[key] {
            let isBeyond = totalCost - old.cost + cost > costLimit
            let isSmall = small.contains(key)
            if isBeyond {
                remove(key)
                makeRoom(cost: cost, at: now)
                if !pinned.contains(key) { if isSmall { small.append(key) } else { main.append(key) } }
            }
            entries[key] = Entry(value: value, cost: cost, deadline: deadline, frequency: old.frequency)
        } else {
            let isKnown = ghosts.contains(key)
            ghosts.removeAll { $0 == key }
            makeRoom(cost: cost, at: now)
            let isFilling =
                !hasRemembered && !small.isEmpty
                && (self.cost(of: small) >= max(1, costLimit / 10) || small.count >= max(1, countLimit / 10))
            entries[key] = Entry(value: value, cost: cost, deadline: deadline)
            if !pinned.contains(key) { if isKnown || isFilling { main.append(key) } else { small.append(key) } }
        }
        return true
    }

    mutating func pin(_ key: Int) {
        pinned.insert(key)
        small.removeAll { $0 == key }
        main.removeAll { $0 == key }
    }

    mutating func unpin(_ key: Int, at now: Int64) {
        guard pinned.remove(key) != nil, entries[key] != nil else { return }
        main.append(key)
        makeRoom(cost: 0, count: 0, at: now)
    }

    private mutating func makeRoom(cost: Int, count: Int = 1, at now: Int64) {
        while totalCost > costLimit - cost || entries.count > countLimit - count {
            let isSmallFull =
                totalCost > costLimit - cost
                ? self.cost(of: small) >= max(1, costLimit / 10) : small.count >= max(1, countLimit / 10)
            if !small.isEmpty, isSmallFull || main.isEmpty {
                let key = small.removeFirst()
                guard let entry = entries[key] else { continue }
                if entry.deadline <= now {
                    entries[key] = nil
                } else if entry.frequency > 1 {
                    entries[key]?.frequency = 0
                    main.append(key)
                } else {
                    remember(key)
                    entries[key] = nil
                    evictions += 1
                }
            } else if !main.isEmpty {
                let key = main.removeFirst()
                guard let entry = entries[key] else { continue }
                if entry.deadline > now, entry.frequency > 0 {
                    entries[key]?.frequency -= 1
                    main.append(key)
                } else {
                    if entry.deadline > now { evictions += 1 }
                    entries[key] = nil
                }
            } else {
                return
            }
        }
    }

    private mutating func remember(_ key: Int) {
        hasRemembered = true
        ghosts.removeAll { $0 == key }
        let capacity = max(1, entries.count * 9 / 10)
        if ghosts.count >= capacity { ghosts.removeFirst(ghosts.count - capacity + 1) }
        ghosts.append(key)
    }
}
