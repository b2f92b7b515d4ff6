import FreshetWire

/// The callers that wait until everything on the device is verified as of their calls.
///
/// A caller is answered when the feed has been read to its end by a request that was sent after the call, and no entry is left that has
/// to be verified or read again.
struct VerificationQueue: Hashable, Sendable {
    /// By caller, the number of the last request that was sent before the call.
    private var calls: [CallerID: Int64] = [:]

    var isEmpty: Bool { calls.isEmpty }

    mutating func add(_ callerID: CallerID, after request: Int64) { calls[callerID] = request }

    mutating func abandon(_ callerID: CallerID) { calls[callerID] = nil }

    /// Removes the callers whose calls were before a request, and returns their ids, in order.
    mutating func takeCalls(before request: Int64) -> [CallerID] {
        let answered = calls.filter { $0.value < request }.keys.sorted()
        for callerID in answered { calls[callerID] = nil }
        return answered
    }

    /// Removes all callers, and returns their ids, in order.
    mutating func removeAll() -> [CallerID] { takeCalls(before: .max) }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to request: Int64) { calls = calls.mapValues { $0 - request } }
}
