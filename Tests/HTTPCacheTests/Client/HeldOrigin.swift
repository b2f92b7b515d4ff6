import FreshetTestSupport
import Glibc
import Synchronization

/// An origin that says when a request has come, and answers with the request's number once it is let.
final class HeldOrigin: Sendable {
    /// The request lines, as they come.
    let arrived: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let state = Mutex<(count: Int, isOpen: Bool)>((0, false))
    private let pipe: (read: Int32, write: Int32)
    private let server = Mutex<ScriptedServer?>(nil)

    /// - Parameter lines: fields of every answer, each with its line end.
    init(lines: String) {
        (arrived, continuation) = AsyncStream.makeStream(of: String.self)
        var ends: [Int32] = [-1, -1]
        Glibc.pipe(&ends)
        pipe = (ends[0], ends[1])
        let server = ScriptedServer { [weak self] connection in
            while let (head, _) = connection.request() {
                guard let number = self?.come(String(head.prefix { $0 != "\r\n" })) else { return }
                connection.respond(number, fields: lines)
            }
        }
        self.server.withLock { $0 = server }
    }

    deinit {
        close(pipe.read)
        close(pipe.write)
    }

    var url: String { server.withLock { $0?.url ?? "" } }
    var count: Int { state.withLock { $0.count } }

    /// Lets all requests be answered, those that come later too.
    func release() {
        state.withLock { $0.isOpen = true }
        var byte: UInt8 = 1
        write(pipe.write, &byte, 1)
    }

    /// Waits on the connection's own thread until answers are let out.
    private func come(_ line: String) -> String {
        let (number, isOpen) = state.withLock { state in
            state.count += 1
            return (state.count, state.isOpen)
        }
        continuation.yield(line)
        if !isOpen {
            var waited = pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0)
            while poll(&waited, 1, 120_000) < 0, errno == EINTR {}
        }
        return "\(number)"
    }
}
