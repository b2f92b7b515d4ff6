import Dispatch
import FreshetCache
import FreshetTestSupport
import Synchronization
import Testing

/// Notifications that one thread delivers while others go on.
@Suite(.timeLimit(.minutes(5))) struct PressureDeliveryTests {
    /// A cache that blocks the thread that shrinks it until the test releases that thread.
    private final class Held: ShrinkableCache {
        let begun: AsyncStream<Void>
        private let begin: AsyncStream<Void>.Continuation
        private let gate = DispatchSemaphore(value: 0)

        init() { (begun, begin) = AsyncStream.makeStream(of: Void.self) }

        func shrink(toPercent percent: Int) {
            guard percent == 50 else { return }
            begin.yield()
            gate.wait()
        }

        func release() { gate.signal() }
    }

    @Test func stoppingLosesNoEventThatAnotherThreadIsAboutToDeliver() async {
        // Given a thread that reports pressure, and is blocked before it notifies the listeners
        let folder = TemporaryDirectory()
        var configuration = MemoryPressure.Configuration()
        configuration.root = folder.path
        configuration.servicePath = nil
        let pressure = MemoryPressure(configuration)
        let (events, held) = (pressure.events, Held())
        held.shrinks(under: pressure)
        Sockets.thread { pressure.report(.warning) }
        for await _ in held.begun { break }
        // When
        await pressure.stop()
        held.release()
        // Then
        var heard: [MemoryPressure.Event] = []
        for await event in events { heard.append(event) }
        #expect(heard == [.shrunk(toPercent: 50, .warning, .report)])
    }
}
