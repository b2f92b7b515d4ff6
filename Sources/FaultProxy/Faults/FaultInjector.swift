import Dispatch
import FreshetPlatform
package import FreshetWire
import Synchronization

/// The faults that tests have armed, by namespace, and the requests that they hold back.
package final class FaultInjector: Sendable {
    /// A request that is frozen or delayed.
    private struct Held {
        var namespace: Namespace
        var resume: @Sendable () -> Void
    }

    private struct State {
        var rules: [Namespace: FaultRules] = [:]
        var held: [Int: Held] = [:]
        var lastHeld = 0
        var isDraining = false
        var followers: [Namespace: Broadcast<Void>] = [:]
        var proxies: [@Sendable (Namespace) -> Bool] = []
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: Faults

    /// Arms a fault. One that reaches the feed also applies to the polls that wait at the server, or are on their way to it.
    ///
    /// - Parameter endStreams: called after that if streams of the namespace are open: ends them at the server, so that their
    ///   readers connect again and meet the fault.
    package func arm(_ fault: Fault, in namespace: Namespace, endStreams: () -> Void = {}) -> ArmedFault {
        let (armed, proxies) = state.withLock { ($0.rules[namespace, default: FaultRules()].arm(fault), $0.proxies) }
        notify(namespace)
        guard fault.target.reaches(.changes) else { return armed }
        let streams = proxies.map { applyToPolls in applyToPolls(namespace) }
        if streams.contains(true) { endStreams() }
        return armed
    }

    /// Adds a proxy.
    ///
    /// - Parameter applyToPolls: applies the faults of a namespace to the polls that the proxy has passed on already, and
    ///   returns whether streams of the namespace are open.
    func add(_ applyToPolls: @escaping @Sendable (Namespace) -> Bool) { state.withLock { $0.proxies.append(applyToPolls) } }

    package func armed(in namespace: Namespace) -> [ArmedFault] { state.withLock { $0.rules[namespace]?.armed ?? [] } }

    /// Disarms all faults of a namespace: ends frozen requests, and handles delayed ones at once. Returns how many
    /// faults would still have matched.
    @discardableResult
    package func clear(_ namespace: Namespace) -> Int {
        let (count, resumed) = state.withLock { state in
            let held = state.held.filter { $0.value.namespace == namespace }.sorted { $0.key < $1.key }
            for (number, _) in held { state.held[number] = nil }
            return (state.rules[namespace]?.clear() ?? 0, held.map(\.value.resume))
        }
        for resume in resumed { resume() }
        notify(namespace)
        return count
    }

    /// Removes the faults and followers of a namespace that is no longer used.
    package func forget(_ namespace: Namespace) {
        clear(namespace)
        let followers = state.withLock { state in
            state.rules[namespace] = nil
            return state.followers.removeValue(forKey: namespace)
        }
        followers?.finish()
    }

    /// Resumes all held requests and holds no more, since the proxy stops.
    package func drain() {
        let resumed = state.withLock { state in
            state.isDraining = true
            defer { state.held = [:] }
            return state.held.sorted { $0.key < $1.key }.map(\.value.resume)
        }
        for resume in resumed { resume() }
    }

    // MARK: Requests

    /// A fault that has matched a request, and how often the faults of its namespace had been cleared until then.
    package struct Match: Sendable {
        package let effect: FaultEffect
        let namespace: Namespace
        fileprivate let clearCount: Int
    }

    /// The armed fault that matches the request, if any.
    package func match(_ target: FaultTarget, _ token: DeviceToken?, in namespace: Namespace) -> Match? {
        let match = state.withLock { state -> Match? in
            guard let effect = state.rules[namespace, default: FaultRules()].match(target, token) else { return nil }
            return Match(effect: effect, namespace: namespace, clearCount: state.rules[namespace]?.clearCount ?? 0)
        }
        if match != nil { notify(namespace) }
        return match
    }

    /// Holds a request or its answer until the faults are cleared or the time has passed. Then calls the closure, on
    /// another thread. That is at once if the proxy stops, or if the faults were cleared after the match: a test may clear
    /// them as soon as it hears of the match, before the request is held.
    ///
    /// - Returns: the number of the hold, for ``drop(_:)``.
    package func hold(_ match: Match, _ milliseconds: Int?, _ resume: @escaping @Sendable () -> Void) -> Int {
        let (number, isHeld) = state.withLock { state in
            state.lastHeld += 1
            let isHeld = !state.isDraining && state.rules[match.namespace]?.clearCount == match.clearCount
            if isHeld { state.held[state.lastHeld] = Held(namespace: match.namespace, resume: resume) }
            return (state.lastHeld, isHeld)
        }
        if !isHeld {
            DispatchQueue.global().async(execute: resume)
        } else if let milliseconds {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in self?.end(number) }
        }
        return number
    }

    /// Ends a hold without a call of its closure.
    func drop(_ number: Int) { _ = state.withLock { $0.held.removeValue(forKey: number) } }

    /// The requests and answers that are held at this moment.
    package var heldCount: Int { state.withLock { $0.held.count } }

    private func end(_ number: Int) {
        let held = state.withLock { $0.held.removeValue(forKey: number) }
        held?.resume()
    }

    // MARK: Followers

    /// Yields at once, and whenever a fault of the namespace was armed, has matched or was cleared. ``armed(in:)`` has
    /// the faults.
    package func follow(_ namespace: Namespace) -> AsyncStream<Void> {
        // Under the lock, so that ``forget(_:)`` ends this stream too.
        state.withLock { state in
            let followers = state.followers[namespace] ?? Broadcast(keepingLatest: 1)
            state.followers[namespace] = followers
            return followers.stream(first: ())
        }
    }

    private func notify(_ namespace: Namespace) {
        state.withLock { $0.followers[namespace] }?.send(())
    }
}
