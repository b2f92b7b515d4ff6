internal import Synchronization

extension CurlTransport {
    /// Sends a request and waits for its end. Cancelling the task ends the request with ``TransportError/aborted``.
    package func reply(to request: HTTPRequestDescription) async -> Result<HTTPReply, TransportError> {
        let cancellation = Cancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let id = send(request) { continuation.resume(returning: $0) }
                if cancellation.began(id) { cancel(id) }
            }
        } onCancel: {
            if let id = cancellation.cancel() { cancel(id) }
        }
    }
}

/// Combines a request's number and its cancellation, whichever comes first.
private final class Cancellation: Sendable {
    private let state = Mutex<(id: UInt64?, isCancelled: Bool)>((nil, false))

    /// - Returns: whether the request is cancelled already.
    func began(_ id: UInt64) -> Bool {
        state.withLock { state in
            state.id = id
            return state.isCancelled
        }
    }

    /// - Returns: the number, if it is known.
    func cancel() -> UInt64? {
        state.withLock { state in
            state.isCancelled = true
            return state.id
        }
    }
}
