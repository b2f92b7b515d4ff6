internal import CFreshetLinux
internal import Glibc

/// An `eventfd` that wakes a thread which waits for descriptors, from any thread:
/// <https://man7.org/linux/man-pages/man2/eventfd.2.html>. The owner closes the descriptor.
package struct WakeupEvent: Sendable {
    /// Readable once ``signal()`` was called, until it is read. Watched edge-triggered, it need not be read.
    package let descriptor: Int32

    /// - Throws: ``SystemFailure`` if the process or the system has no descriptor left.
    package init() throws(SystemFailure) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemFailure(code: errno) }
    }

    package func signal() { _ = eventfd_write(descriptor, 1) }

    /// Makes the descriptor unreadable until the next ``signal()``.
    package func reset() {
        var count: eventfd_t = 0
        _ = eventfd_read(descriptor, &count)
    }

    /// Closes the descriptor. Nothing may use the event any more.
    package func close() { _ = Glibc.close(descriptor) }
}
