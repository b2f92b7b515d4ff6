import Glibc

/// Threads for which a system call fails, as it does on an older kernel or in a sandbox.
package enum FailingSystemCall {
    private typealias Control = @convention(c) (Int, Int, Int, Int, Int) -> Int32

    /// Runs the closure on a new thread for which the system call fails with a code, and returns what it returns; `nil`
    /// where the system does not allow a thread to forgo a call.
    ///
    /// The filter is the thread's alone (<https://man7.org/linux/man-pages/man2/seccomp.2.html>) and ends with it.
    package static func run<Value: Sendable>(
        _ number: UInt32, failingWith code: Int32, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            Sockets.thread { continuation.resume(returning: forbid(number, code) ? body() : nil) }
        }
    }

    private static func forbid(_ number: UInt32, _ code: Int32) -> Bool {
        // Swift does not import functions with variable arguments.
        guard let symbol = dlsym(nil, "prctl") else { return false }
        let control = unsafeBitCast(symbol, to: Control.self)
        // BPF instructions: load the call's number, compare, return the error, allow.
        var program: [UInt64] = [
            0x20, 0x15 | 1 << 24 | UInt64(number) << 32, 0x06 | (0x0005_0000 | UInt64(code)) << 32,
            0x06 | 0x7FFF_0000 << 32,
        ]
        return program.withUnsafeMutableBufferPointer { program in
            guard let base = program.baseAddress else { return false }
            // The length, then the address.
            var header: (UInt64, UInt64) = (UInt64(program.count), UInt64(UInt(bitPattern: base)))
            return withUnsafeMutablePointer(to: &header) { header in
                // PR_SET_NO_NEW_PRIVS, then PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
                control(38, 1, 0, 0, 0) == 0 && control(22, 2, Int(bitPattern: header), 0, 0) == 0
            }
        }
    }
}
