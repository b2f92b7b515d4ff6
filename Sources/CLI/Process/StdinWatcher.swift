import Dispatch
import Glibc
import ServiceLifecycle

/// Stops the server when standard input ends: a process that started the server with a pipe to it has then exited and
/// needs it no longer.
struct StdinWatcher: Service {
    func run() async throws {
        let (ends, continuation) = AsyncStream.makeStream(of: Never.self)
        // A thread that blocks, not a Dispatch source: libdispatch crashes now and then when a source on a closed pipe is cancelled as it
        // fires, and sees no end of /dev/null (https://github.com/swiftlang/swift-corelibs-libdispatch/issues/949).
        DispatchQueue(label: "freshet.input").async { @Sendable in
            var buffer = [UInt8](repeating: 0, count: 512)
            while true {
                let count = read(0, &buffer, buffer.count)
                if count == 0 || (count < 0 && errno != EINTR) { break }
            }
            continuation.finish()
        }
        for await _ in ends.cancelOnGracefulShutdown() {}
    }
}
