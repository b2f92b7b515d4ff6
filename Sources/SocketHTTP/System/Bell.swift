import CLinux
import Glibc

/// Wakes a thread that sleeps in `epoll_wait`, from any thread.
struct Bell: Sendable {
    /// To be watched edge-triggered: each ring is then reported once, and need not be read.
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
