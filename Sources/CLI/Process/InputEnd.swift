import Dispatch
import Glibc
import ServiceLifecycle

/// Ends when standard input has ended: who started the server with a pipe to it, and is gone, needs it no longer.
struct InputEnd: Service {
    func run() async throws {
        let (ends, continuation) = AsyncStream.makeStream(of: Never.self)
        let source = DispatchSource.makeReadSource(fileDescriptor: 0, queue: DispatchQueue(label: "freshet.input"))
        source.setEventHandler { @Sendable in
            var buffer = [UInt8](repeating: 0, count: 512)
            let count = read(0, &buffer, buffer.count)
            if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) { continuation.finish() }
        }
        source.activate()
        defer { source.cancel() }
        for await _ in ends.cancelOnGracefulShutdown() {}
    }
}
