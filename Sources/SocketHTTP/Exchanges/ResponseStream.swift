public import HTTPTypes
import Synchronization

/// A response whose body is written piece by piece, such as server-sent events. Every member may be called from any thread.
///
/// Chunked on HTTP/1.1, delimited by the end of the connection on HTTP/1.0. A piece may have any size; a peer that has left
/// more than `Limits.queuedBytes` unread when the next one is written is dropped. If all copies are released without
/// `finish()`, the connection is closed, so that the client does not take the body for complete.
public struct ResponseStream: Sendable {
    fileprivate let handle: StreamHandle

    /// Sends a piece of the body.
    ///
    /// - Returns: false if the stream has ended or the peer is gone; then further writes are useless.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        guard handle.isWritable else { return false }
        guard !bytes.isEmpty else { return true }
        return handle.write(handle.isChunked ? ResponseStream.chunk(bytes) : bytes)
    }

    /// Bytes written to the stream's connection that the peer has not accepted yet. A writer with much data waits while
    /// it is high.
    public var unsentBytes: Int { handle.exchange.connection.unsent.load(ordering: .relaxed) }

    /// Calls `body` once, when at most `limit` bytes of the stream's connection are unsent; soon if that is so already.
    ///
    /// `body` runs on the event loop, never within a call of this library's, and must not block. If the peer
    /// disconnects, or is dropped, earlier than that, `body` is released and not called. A writer that catches up reads
    /// on from here, so a peer that accepts nothing costs nothing.
    ///
    /// - Parameter limit: the ``unsentBytes`` at which the writer resumes; 0 or more.
    public func onWritable(below limit: Int, _ body: @escaping @Sendable () -> Void) {
        guard handle.isWritable else { return }
        handle.exchange.connection.loop.post(.awaitDrain(handle.exchange.connection, limit: limit, body))
    }

    /// Ends the body. Further calls do nothing.
    public func finish() {
        handle.end(.finished)
    }

    /// Calls `body` once if the peer disconnects, or is dropped, before `finish()`; see `Exchange.onCancel(_:)`.
    public func onCancel(_ body: @escaping @Sendable () -> Void) {
        if handle.isWritable { handle.exchange.whenPeerGoes(.call(body), isForDisconnect: false) }
    }

    /// Calls `body` once if the peer disconnects, is dropped, or ends its input, before `finish()`; see
    /// `Exchange.onDisconnect(_:)`.
    public func onDisconnect(_ body: @escaping @Sendable () -> Void) {
        if handle.isWritable { handle.exchange.whenPeerGoes(.call(body), isForDisconnect: true) }
    }

    /// Sends the same piece to many streams, framed once, with one hand-off to each event loop.
    public static func broadcast(to streams: [ResponseStream], _ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        let chunk = chunk(bytes)
        var byLoop: [(loop: EventLoop, recipients: [Recipient])] = []
        for stream in streams where stream.handle.isWritable {
            let exchange = stream.handle.exchange
            let recipient = Recipient(
                connection: exchange.connection, number: exchange.slot.number, isChunked: stream.handle.isChunked)
            guard recipient.reserve(chunk.count) else { continue }
            if let index = byLoop.firstIndex(where: { $0.loop === exchange.connection.loop }) {
                byLoop[index].recipients.append(recipient)
            } else {
                byLoop.append((exchange.connection.loop, [recipient]))
            }
        }
        for (loop, recipients) in byLoop { loop.submit(.broadcast(recipients, chunk: chunk, plain: bytes, reserved: chunk.count)) }
    }

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        var chunk: [UInt8] = []
        chunk.reserveCapacity(bytes.count + 20)
        ResponseEncoder.appendChunk(bytes, to: &chunk)
        return chunk
    }

    /// A stream that receives a broadcast piece.
    struct Recipient: Sendable {
        let connection: Connection
        let number: UInt32
        let isChunked: Bool

        /// Counts bytes as unsent before they are handed over; drops the connection if too many already are. The bytes
        /// themselves do not count for that: a piece above the limit would drop each reader, however fast it reads.
        func reserve(_ count: Int) -> Bool {
            let before = connection.unsent.add(count, ordering: .relaxed).oldValue
            guard before > connection.context.limits.queuedBytes else { return true }
            connection.unsent.subtract(count, ordering: .relaxed)
            connection.loop.post(.perform { [connection] loop in loop.dropSlowReader(connection) })
            return false
        }
    }
}

extension Exchange {
    /// Answers with a head now and a body in pieces.
    ///
    /// `HEAD` gets the head alone. If the exchange has already been answered, the stream has ended from the start.
    public func stream(status: HTTPResponse.Status, fields: ResponseFields = [:]) -> ResponseStream {
        let isChunked = !handle.slot.traits.contains(.isHTTP10)
        guard ResponseEncoder.hasBody(status) else {
            respond(Response(status: status, fields: fields))
            return ResponseStream(handle: StreamHandle(handle, isChunked: isChunked, isOpen: false))
        }
        let isClaimed = handle.claim()
        if isClaimed {
            var head: [UInt8] = []
            ResponseEncoder.appendStreamHead(status, fields, isChunked: isChunked, date: DateField.now(), to: &head)
            handle.connection.loop.submit(.answer(handle.connection, handle.slot, .stream(head: head)))
        }
        let stream = ResponseStream(handle: StreamHandle(handle, isChunked: isChunked, isOpen: isClaimed))
        if handle.slot.traits.contains(.headOnly) { stream.finish() }
        return stream
    }
}

/// The state that a stream's copies share.
private final class StreamHandle: Sendable {
    let exchange: ExchangeHandle
    let isChunked: Bool
    private let isOpen: Atomic<Bool>

    init(_ exchange: ExchangeHandle, isChunked: Bool, isOpen: Bool) {
        self.exchange = exchange
        self.isChunked = isChunked
        self.isOpen = Atomic(isOpen)
    }

    deinit {
        end(.abandoned)
    }

    var isWritable: Bool {
        isOpen.load(ordering: .relaxed) && !exchange.connection.cancellations.withLock { $0.isPeerGone }
    }

    func write(_ piece: [UInt8]) -> Bool {
        let recipient = ResponseStream.Recipient(
            connection: exchange.connection, number: exchange.slot.number, isChunked: isChunked)
        guard recipient.reserve(piece.count) else { return false }
        exchange.connection.loop.submit(.streamBytes(exchange.connection, exchange.slot.number, piece))
        return true
    }

    func end(_ ending: StreamEnding) {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        let released = exchange.connection.cancellations.withLock { $0.remove(exchange.slot.number) }
        _ = released
        exchange.connection.loop.submit(.streamEnd(exchange.connection, exchange.slot, ending))
    }
}
