internal import Glibc

/// Starts threads that nobody joins.
package enum DetachedThread {
    /// Runs the closure on a new thread. The thread handles no signals: the program's other threads do.
    ///
    /// - Returns: 0, or the `errno` of a thread that could not be started; then the closure is released without a call.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        // Balanced by takeRetainedValue in the thread, or below if there is no thread.
        let context = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        if failure == 0 { pthread_detach(thread) } else { context.release() }
        return failure
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
