internal import FreshetWire

/// Someone who waits for the machine's answer.
enum Caller {
    case write(RecordKey, CheckedContinuation<PendingWrite, any Error>)
    case views([RecordKey], CheckedContinuation<[MemoryTier.Hit], any Error>)
    case clear(CheckedContinuation<Void, any Error>)
    /// Nobody: keys that observers look at are read again.
    case refresh([RecordKey])

    func fail(_ error: any Error) {
        switch self {
        case .write(_, let continuation): continuation.resume(throwing: error)
        case .views(_, let continuation): continuation.resume(throwing: error)
        case .clear(let continuation): continuation.resume(throwing: error)
        case .refresh: break
        }
    }

    /// The key that an error is about.
    var key: RecordKey? {
        switch self {
        case .write(let key, _): key
        case .views(let keys, _), .refresh(let keys): keys.first
        case .clear: nil
        }
    }
}
