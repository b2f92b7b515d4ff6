public import FoundationEssentials
internal import Synchronization

/// Explains why a ``TwoTierCache`` does or does not return a value for a key.
public struct TwoTierExplanation: Sendable, CustomStringConvertible {
    /// The state of a key in the second tier.
    public enum Disk: Sendable {
        /// It holds a value.
        case present(StoredValue)
        /// It holds none.
        case absent
        /// The second tier is not read, since a removal is queued or has failed.
        case hidden
        /// It could not be read.
        case failed(any Error)
        /// The key has no name there.
        case nameless
    }

    /// A change that is queued for the second tier.
    public enum Staged: String, Hashable, Sendable {
        /// The value in memory.
        case value
        /// A removal.
        case removal
    }

    /// The state in memory; nil if the first tier is not a ``Cache``.
    public let memory: CacheExplanation?
    /// Whether the value is in memory.
    public let isInMemory: Bool
    /// The state in the second tier.
    public let disk: Disk
    /// The change that is queued for the second tier; nil for none.
    public let staged: Staged?
    /// Whether a lookup or a load of the value is in flight.
    public let isLoading: Bool
    /// When the explanation was made.
    public let at: Date

    /// A sentence or two, for people.
    public var description: String {
        var parts = ["memory: \(memory.map { "\($0)" } ?? (isInMemory ? "present" : "absent"))"]
        switch disk {
        case .present(let stored):
            let age = Int(max(0, at.timeIntervalSince(stored.validatedAt)))
            parts.append(
                "disk: \(stored.bytes.count) bytes\(stored.protection == .encrypted ? ", encrypted" : ""), verified \(age) s ago"
                    + (stored.expiresAt.map { ", over in \(Int(max(0, $0.timeIntervalSince(at)))) s" } ?? ""))
        case .absent: parts.append("disk: absent")
        case .hidden: parts.append("disk: not read, a removal is due")
        case .failed(let error): parts.append("disk: \(error)")
        case .nameless: parts.append("disk: the key has no name")
        }
        if let staged { parts.append("a \(staged.rawValue) is on its way to the disk") }
        if isLoading { parts.append("it is being loaded") }
        return parts.joined(separator: "; ")
    }
}

extension TwoTierCache {
    /// Explains why a key's value is or is not returned, for both tiers. Memory counts no read; the second tier may
    /// count a use.
    public func explain(_ key: Key) async -> TwoTierExplanation {
        let name = name(key)
        let (lookUp, isLoading) = state.withLock { state in
            let isLoading = Purpose.allCases.contains { state.loads.contains(.init(purpose: $0, key: key)) }
            return (name.map { state.behind.lookUp(key, $0) }, isLoading)
        }
        let isStaged = state.withLock { $0.behind.isWriting(key) }
        let staged: TwoTierExplanation.Staged? =
            if case .value? = lookUp { .value } else { isStaged ? .removal : nil }
        return TwoTierExplanation(
            memory: memory?.explain(key), isInMemory: peek(key) != nil, disk: await explainedDisk(name, lookUp), staged: staged,
            isLoading: isLoading, at: DiskDeadline.date(clock.wall()))
    }

    private func explainedDisk(_ name: [UInt8]?, _ lookUp: WriteBehind<Key, Value>.ReadResult?) async -> TwoTierExplanation.Disk {
        guard let name else { return .nameless }
        var hiding: Set<CacheTag> = []
        switch lookUp {
        case .absent: return .hidden
        case .ask(let tags)?: hiding = tags
        case .value, nil: break
        }
        do {
            guard let stored = try await secondary.storedValue(named: name) else { return .absent }
            return isHidden(stored, by: hiding) ? .hidden : .present(stored)
        } catch {
            return .failed(error)
        }
    }
}
