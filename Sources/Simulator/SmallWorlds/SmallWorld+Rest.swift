import FreshetClient

/// The course of a world after all faults have ended.
extension SmallWorld {
    /// Lets the server, the network and the disks do all that waits for them, and back-offs end, until only polls are left.
    @discardableResult
    mutating func settle(steps: Int = 400) -> [SmallMove] {
        var moves: [SmallMove] = []
        for _ in 0..<steps {
            focus = nil
            guard failure == nil, let move = nextAtRest else { return moves }
            moves.append(move)
            apply(move)
        }
        focus = nil
        return moves
    }

    private var nextAtRest: SmallMove? {
        let possible = moves(within: 0)
        if let move = possible.first(where: { if case .timer = $0 { false } else { true } }) { return move }
        for device in devices {
            for (place, call) in device.calls.enumerated() where call.response == nil && !isHeld(call) {
                return .exchange(device: device.number, call: place)
            }
        }
        return possible.first
    }

    /// Ends all faults, and checks that every device comes to hold all that the server has. Returns the failure and the moves to it.
    func settled() -> (failure: SmallFailure, moves: [SmallMove])? {
        var world = self
        let moves = world.settle()
        return (world.failure ?? world.unsettled).map { ($0, moves) }
    }

    private var unsettled: SmallFailure? {
        for device in devices {
            guard device.isLive else { return SmallFailure(.converge, "device \(device.number) does not become live") }
            guard device.store.rows.isEmpty, device.machine.overlaidKeys.isEmpty, device.store.watermarks.isEmpty else {
                return SmallFailure(.converge, "device \(device.number) keeps writes: \(device.store.rows.keys.sorted())")
            }
            guard device.oracle.reads.isEmpty, device.oracle.calls.isEmpty else {
                return SmallFailure(.converge, "a caller of device \(device.number) gets no answer")
            }
            for (number, key) in setup.keys.enumerated() {
                let version = server.history.current(number)
                guard let entry = device.store.entries[key] else {
                    guard device.settings.following == .everything, version?.content != nil, setup.limits[.eviction, default: 0] == 0 else {
                        continue
                    }
                    return SmallFailure(.converge, "device \(device.number) lacks \(key)")
                }
                let isRight = entry.isTrue(of: version?.content, at: version?.revision) && entry.epoch == server.history.epoch
                guard isRight, !entry.needsRefresh else {
                    return SmallFailure(.converge, "device \(device.number) holds another \(key) than the server")
                }
            }
        }
        return nil
    }
}
