import CLinux
import Glibc

/// What wakes a thread that sleeps in `epoll_wait`, from any thread.
struct Bell: Sendable {
    /// To be watched edge-triggered: then each ring is told once, and nobody has to read it away.
    let descriptor: Int32

    init() throws(SocketHTTPError) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SocketHTTPError(errno: errno, during: "eventfd") }
        self.descriptor = descriptor
    }

    func ring() {
        _ = eventfd_write(descriptor, 1)
    }
}
