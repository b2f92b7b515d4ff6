internal import Synchronization

/// The pending answer to a request: given once, from any thread, now or later. A long poll keeps its exchange and holds
/// no thread.
///
/// Copies share one right to answer. If all of them are released without an answer, the request is answered `500`.
public struct Exchange: Sendable {
    let handle: ExchangeHandle

    /// Answers; on the event loop itself the response is written before this returns, or with the handler's other answers
    /// just after it.
    ///
    /// - Returns: false if the exchange has already been answered, or the peer is known to be gone.
    @discardableResult
    public func respond(_ response: Response) -> Bool {
        guard handle.claim() else { return false }
        handle.submit(.response(response))
        return true
    }

    /// Answers with bytes that other exchanges share.
    ///
    /// - Returns: false if the exchange has already been answered, or the peer is known to be gone.
    @discardableResult
    public func respond(_ encoded: EncodedResponse) -> Bool {
        guard handle.claim() else { return false }
        handle.submit(.encoded(encoded))
        return true
    }

    /// Answers many exchanges with the same bytes, with one hand-off to each event loop. Exchanges that have already
    /// been answered are skipped.
    ///
    /// Complexity: O(*n*); one system call for each exchange.
    public static func respond(to exchanges: [Exchange], with encoded: EncodedResponse) {
        guard let loop = exchanges.first?.handle.connection.loop else { return }
        // Usually all belong to one loop and none has been answered: then nothing is copied.
        let alike = exchanges.prefix { $0.handle.connection.loop === loop && $0.handle.take() }
        guard alike.count < exchanges.count else { return loop.submit(.fanOut(exchanges, encoded)) }
        var byLoop = [(loop: loop, exchanges: Array(alike))]
        byLoop[0].exchanges.reserveCapacity(exchanges.count)
        for exchange in exchanges[alike.endIndex...] where exchange.handle.take() {
            let loop = exchange.handle.connection.loop
            // There are few loops: looking through them is cheaper than hashing.
            if let index = byLoop.firstIndex(where: { $0.loop === loop }) {
                byLoop[index].exchanges.append(exchange)
            } else {
                byLoop.append((loop, [exchange]))
                byLoop[byLoop.count - 1].exchanges.reserveCapacity(exchanges.count)
            }
        }
        for (loop, exchanges) in byLoop where !exchanges.isEmpty { loop.submit(.fanOut(exchanges, encoded)) }
    }

    /// Calls `body` once if the peer disconnects before the answer: by a reset, or by hanging up. If the peer has
    /// already disconnected, `body` is called soon.
    ///
    /// `body` runs on the event loop, never within a call of this library's and never under a lock, and must not block.
    /// A peer that only shuts its writing side still waits for its answer and is not gone. TCP shows the same of a peer
    /// that has closed, so a closed peer is noticed only when it is written to: let every wait end. Do not capture the
    /// exchange itself: the action is kept until the answer, and would keep the exchange from being released.
    public func onCancel(_ body: @escaping @Sendable () -> Void) {
        handle.onCancel(.call(body), isForDisconnect: false)
    }

    /// Calls `body` once if the peer disconnects or ends its input. A client that was closed looks at first as if it
    /// had only ended its input.
    ///
    /// Such a peer may still read, so the exchange can be answered, and should be. Otherwise as `onCancel(_:)`.
    public func onDisconnect(_ body: @escaping @Sendable () -> Void) {
        handle.onCancel(.call(body), isForDisconnect: true)
    }

    /// Whether the peer has disconnected or ended its input, as far as is known: work for its answer is useless, as a rule.
    package var isDisconnected: Bool { handle.connection.cancellations.withLock { $0.isDisconnected } }

    /// Notifies one listener for many exchanges, each identified by a number: otherwise as `onDisconnect(_:)`, but
    /// allocates no memory for each exchange.
    public func onDisconnect(notify listener: any DisconnectListener, _ number: UInt64) {
        handle.onCancel(.notify(listener, number), isForDisconnect: true)
    }
}
