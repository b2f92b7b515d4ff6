import Dispatch

/// Runs an event loop on a Dispatch queue, whose source watches the loop's epoll descriptor.
///
/// The source fires when an idle loop gets something to do. The loop then runs turns until it has had nothing to do for
/// ``patience``, so Dispatch is involved only in the first request after a pause. `docs/decisions/0046-event-loops.md` has
/// the figures.
///
/// `@unchecked Sendable`: Dispatch's types are not marked `Sendable` on Linux; `armedTick` is touched on the queue alone.
final class LoopDriver: @unchecked Sendable {
    /// How long a loop waits for more work before it returns to Dispatch, in milliseconds.
    private static let patience: Int32 = 20

    private let loop: EventLoop
    private let source: any DispatchSourceRead
    private let timer: any DispatchSourceTimer
    /// The tick that the timer is set to.
    private var armedTick: UInt32?

    /// Starts to run a loop. It is never stopped.
    static func start(_ loop: EventLoop) {
        LoopDriver(loop).activate()
    }

    private init(_ loop: EventLoop) {
        self.loop = loop
        let queue = DispatchQueue(label: "freshet.loop")
        source = DispatchSource.makeReadSource(fileDescriptor: loop.epoll.descriptor, queue: queue)
        timer = DispatchSource.makeTimerSource(queue: queue)
    }

    /// The handlers keep the driver, and so the loop, for as long as the process lasts.
    private func activate() {
        source.setEventHandler { [self] in run() }
        timer.setEventHandler { [self] in
            armedTick = nil
            run()
        }
        timer.schedule(deadline: .distantFuture)
        source.activate()
        timer.activate()
    }

    private func run() {
        loop.own { while loop.runTurn(patience: Self.patience) {} }
        armTimer()
    }

    /// Sets the timer to the loop's next deadline, unless the timer fires earlier anyway.
    private func armTimer() {
        guard let tick = loop.wakeTick, armedTick?.isAfter(tick) ?? true else { return }
        armedTick = tick
        timer.schedule(deadline: .now() + .milliseconds(Int(loop.longestSleep)), leeway: .milliseconds(20))
    }
}
