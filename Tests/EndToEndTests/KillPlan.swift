import FreshetTestSupport
import Synchronization

/// Decides which process is killed when: each victim after a random number of writes that a device has reported as
/// durable. Thread-safe.
final class KillPlan: Sendable {
    enum Victim: Hashable, Sendable {
        case server
        case device(Int)
    }

    fileprivate struct State {
        var random: SeededGenerator
        var left: [Victim: Int]
        var deathsLeft: [Victim: Int]
        var kills = 0
        var isOver = false
        var areDevicesDone = false
        var serverWaiting: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var left: [Victim: Int] = [:]
        for victim in [Victim.server, .device(0), .device(1)] { left[victim] = Int.random(in: 1...25, using: &random) }
        state = Mutex(State(random: random, left: left, deathsLeft: [.server: 3, .device(0): 2, .device(1): 2]))
    }

    var kills: Int { state.withLock { $0.kills } }
    var isOver: Bool { state.withLock { $0.isOver } }
    var areDevicesDone: Bool { state.withLock { $0.areDevicesDone } }

    func devicesAreDone() { state.withLock { $0.areDevicesDone = true } }

    /// Counts a write that a device has reported, and returns whether to kill the device now. The server's count
    /// advances too.
    func countsDown(_ device: Victim) -> Bool {
        let (dies, server) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            let dies = state.count(device)
            guard let waiting = state.serverWaiting, state.count(.server) else { return (dies, nil) }
            state.serverWaiting = nil
            return (dies, waiting)
        }
        server?.resume()
        return dies
    }

    /// Returns when the server is to be killed: at its time, or at the end.
    func nextDeath(of server: Victim) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.serverWaiting = continuation }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.serverWaiting = nil }
            return state.serverWaiting
        }
        waiting?.resume()
    }
}

extension KillPlan.State {
    /// Counts down the writes until the victim is killed; returns whether it is due.
    fileprivate mutating func count(_ victim: KillPlan.Victim) -> Bool {
        guard let deaths = deathsLeft[victim], deaths > 0, let count = left[victim] else { return false }
        left[victim] = count - 1
        guard count <= 1 else { return false }
        deathsLeft[victim] = deaths - 1
        left[victim] = Int.random(in: 1...25, using: &random)
        kills += 1
        return true
    }
}
