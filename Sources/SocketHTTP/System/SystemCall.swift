import CFreshetLinux
import Glibc

/// The few system calls that a socket needs, each restarted when a signal interrupts it (`EINTR`).
///
/// Results are values and never `errno`, which the next call may change.
package enum SystemCall {
    /// The result of a read.
    package enum ReadResult: Equatable {
        case bytes(Int)
        case endOfStream
        case wouldBlock
        case failed(Int32)
    }

    /// The result of a write.
    package enum WriteResult: Equatable {
        case bytes(Int)
        case wouldBlock
        case failed(Int32)
    }

    package static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        while true {
            let count = freshet_receive(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .endOfStream }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
        }
    }

    /// Sends without raising `SIGPIPE`: a peer that has gone is an error code like any other.
    package static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> WriteResult {
        while true {
            let count = freshet_send(descriptor, bytes.baseAddress, bytes.count, noSignal)
            if count >= 0 { return .bytes(count) }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
        }
    }

    /// Bytes that were sent and that the peer has not acknowledged; 0 if the kernel does not say.
    static func unacknowledged(_ descriptor: Int32) -> Int {
        max(0, Int(freshet_unacknowledged(descriptor)))
    }

    /// Closes once. Linux releases the descriptor even where `close` reports `EINTR`, so it is never called again.
    package static func close(_ descriptor: Int32) {
        _ = Glibc.close(descriptor)
    }

    /// Sends `FIN` and leaves reading open.
    package static func shutdownWriting(_ descriptor: Int32) {
        _ = Glibc.shutdown(descriptor, Int32(SHUT_WR))
    }

    private static let noSignal = Int32(MSG_NOSIGNAL)
}
