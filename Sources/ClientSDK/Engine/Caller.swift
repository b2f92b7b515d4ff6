internal import FreshetWire

/// A caller that waits for the machine's answer.
enum Caller {
    /// With the rejected write that this write replaces, if there is one.
    case write(RecordKey, LocalWriteID?, CheckedContinuation<PendingWrite, any Error>)
    case views([RecordKey], CheckedContinuation<[MemoryTier.Hit], any Error>)
    case ids(CheckedContinuation<[String], any Error>)
    /// With `nil` if the list must be repeated.
    case list(CheckedContinuation<[MemoryTier.Hit]?, any Error>)
    /// With whether the client stops as soon as the clear is done.
    case clear(CheckedContinuation<Void, any Error>, stops: Bool)
    case discard(LocalWriteID, CheckedContinuation<Void, any Error>)
    case verification(CheckedContinuation<Void, any Error>)
    /// No caller: observed keys are read again.
    case refresh([RecordKey])
    /// No caller: an observed collection is listed.
    case observers(String)

    func fail(_ error: any Error) {
        switch self {
        case .write(_, _, let continuation): continuation.resume(throwing: error)
        case .views(_, let continuation): continuation.resume(throwing: error)
        case .ids(let continuation): continuation.resume(throwing: error)
        case .list(let continuation): continuation.resume(throwing: error)
        case .clear(let continuation, _), .discard(_, let continuation), .verification(let continuation):
            continuation.resume(throwing: error)
        case .refresh, .observers: break
        }
    }

    /// The key for an error of the call.
    var key: RecordKey? {
        switch self {
        case .write(let key, _, _): key
        case .views(let keys, _), .refresh(let keys): keys.first
        case .ids, .list, .observers, .clear, .discard, .verification: nil
        }
    }

    /// The rejected write for an error of the call.
    var rejection: LocalWriteID? {
        switch self {
        case .write(_, let writeID, _): writeID
        case .discard(let writeID, _): writeID
        case .views, .ids, .list, .observers, .clear, .verification, .refresh: nil
        }
    }
}
