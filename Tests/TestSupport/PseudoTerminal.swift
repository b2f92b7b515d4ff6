import Glibc
package import SystemPackage

/// A pseudo-terminal that a program writes to, in raw mode, so that the output equals the bytes written.
package final class PseudoTerminal: Sendable {
    /// The program's side. ``output()`` ends only when all copies of it are closed.
    package let program: FileDescriptor
    private let own: Int32

    /// The kernel's requests TIOCSPTLCK and TIOCGPTN, macros that Swift does not import. It does not import
    /// posix_openpt(3) and its like either.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    package init() {
        own = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number): (Int32, Int32) = (0, 0)
        precondition(
            own >= 0 && ioctl(own, Self.setLock, &lock) == 0 && ioctl(own, Self.getNumber, &number) == 0,
            "no pseudo-terminal: errno \(errno)")
        let descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        precondition(descriptor >= 0, "the pseudo-terminal cannot be opened: errno \(errno)")
        var settings = termios()
        tcgetattr(descriptor, &settings)
        cfmakeraw(&settings)
        tcsetattr(descriptor, TCSANOW, &settings)
        program = FileDescriptor(rawValue: descriptor)
    }

    deinit { close(own) }

    /// All bytes written until the last copy of ``program`` is closed.
    package func output() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            Sockets.thread { [own] in
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = read(own, &buffer, buffer.count)
                    // EIO means that the other side is closed.
                    guard count > 0 else { break }
                    bytes += buffer[..<count]
                }
                continuation.resume(returning: bytes)
            }
        }
    }
}
