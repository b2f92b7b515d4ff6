import Glibc

/// Ports that no process listens on, below those that the kernel gives to outgoing connections, so that a server that
/// was killed finds its port free again.
package actor FreePort {
    package static let shared = FreePort()
    private var candidate = 20_000 + Int(getpid()) % 8_000

    package func next() throws -> Int {
        for _ in 0..<1_000 {
            candidate = candidate >= 30_000 ? 20_000 : candidate + 1
            if isFree(candidate) { return candidate }
        }
        throw CommandFailure(description: "no port from 20000 to 30000 is free")
    }

    private func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        } == 0
    }
}
