import Dispatch

/// Calls a closure at regular times until it is cancelled.
///
/// Unchecked, since Dispatch's types are not marked `Sendable` on Linux: the source is not replaced, and its methods
/// may be called from any thread (dispatch objects are thread-safe).
final class RepeatingTimer: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    /// - Parameter interval: milliseconds.
    init(interval: Int) {
        source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "freshet.time"))
        source.schedule(
            deadline: .now() + .milliseconds(interval), repeating: .milliseconds(interval), leeway: .milliseconds(interval / 10))
    }

    deinit {
        // A source must not be released before it was activated.
        source.setEventHandler(handler: nil)
        source.activate()
        source.cancel()
    }

    func start(_ body: @escaping @Sendable () -> Void) {
        source.setEventHandler(handler: body)
        source.activate()
    }

    func cancel() { source.cancel() }
}
