import FreshetTestSupport
import Glibc

/// A name server on loopback that receives queries and never answers.
///
/// It is the name server of the threads that ``onThread(_:)`` starts, and of no others: they see another
/// `/etc/resolv.conf`. That needs root, so tests check `SmallDisk.isAvailable` first.
final class SilentNameServer: Sendable {
    /// The name server's queries, as they come.
    let queries: AsyncStream<[UInt8]>
    private let descriptor: Int32
    private let address: String
    private let folder = TemporaryDirectory()

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // The port of all name servers, on an address that another process is unlikely to use.
        var bound = sockaddr_in()
        bound.sin_family = sa_family_t(AF_INET)
        bound.sin_port = UInt16(53).bigEndian
        let host = UInt32.random(in: 0x7F64_0001...0x7FC8_FFFE)
        bound.sin_addr = in_addr(s_addr: host.bigEndian)
        let failure = withUnsafePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard failure == 0 else { throw Trouble(call: "bind", code: errno) }
        self.descriptor = descriptor
        address = [24, 16, 8, 0].map { String(host >> $0 & 0xFF) }.joined(separator: ".")
        let (queries, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        self.queries = queries
        Sockets.thread {
            while true {
                let query = Sockets.read(descriptor)
                guard !query.isEmpty else { return continuation.finish() }
                continuation.yield(query)
            }
        }
    }

    /// Ends the lookups that wait: there is no server at the address any more.
    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Runs the closure on a new thread. The threads that it starts use this name server too.
    func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let path = folder.path + "/resolv.conf"
        guard let file = fopen(path, "w") else { throw Trouble(call: "fopen", code: errno) }
        fputs("nameserver \(address)\noptions timeout:30 attempts:1\n", file)
        fclose(file)
        return try await withCheckedThrowingContinuation { continuation in
            Sockets.thread {
                continuation.resume(
                    with: Result {
                        try Self.mountForThread(path, at: "/etc/resolv.conf")
                        return try body()
                    })
            }
        }
    }

    private static func mountForThread(_ path: String, at target: String) throws {
        // Not in the module Glibc. CLONE_NEWNS: the thread has its own mounts (unshare(2)).
        guard let symbol = dlsym(nil, "unshare") else { throw Trouble(call: "dlsym", code: 0) }
        let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
        guard unshare(0x0002_0000) == 0 else { throw Trouble(call: "unshare", code: errno) }
        guard mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0, mount(path, target, nil, UInt(MS_BIND), nil) == 0 else {
            throw Trouble(call: "mount", code: errno)
        }
    }

    private struct Trouble: Error {
        let call: String
        let code: Int32
    }
}
