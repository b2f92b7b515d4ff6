import FreshetCache
import FreshetTestSupport
import Synchronization
import Testing

private func example(_ pressure: MemoryPressure, _ time: ManualCacheClock, show: ([Int], [String], Int) -> Void) async {
    // article begins
    // Anything that can do with less may join, not only a cache.
    final class Buffers: ShrinkableCache {
        let spare = Mutex([[UInt8]](repeating: [], count: 40))  // at most 40 of them
        func shrink(toPercent percent: Int) { spare.withLock { $0.removeLast(max(0, $0.count - 40 * percent / 100)) } }
    }
    let buffers = Buffers()
    let pictures = Cache<Int, [UInt8]>(costLimit: 1_000)
    pictures.shrinks(under: pressure)  // in a program `.shared`, one for the whole process
    buffers.shrinks(under: pressure)
    for number in 0..<100 { pictures.setValue([], forKey: number, cost: 10) }
    var held = [pictures.totalCost]

    let events = pressure.events
    pressure.report(.warning)  // as the kernel does by itself: 50 % of the limits
    held.append(pictures.totalCost)
    time.advance(by: .seconds(2))
    pressure.report(.critical)  // two steps: 10 %
    held.append(pictures.totalCost)

    time.advance(by: .seconds(30))
    pressure.report(.normal)  // it was calm for so long: a step up
    var lines: [String] = []
    for await event in events.prefix(3) {
        switch event {
        case .shrunk(let percent, let level, let cause): lines.append("\(level), \(cause): \(percent) %")
        case .grown(let percent): lines.append("calm: \(percent) %")
        case .lost(let path, let reason): lines.append("\(path) reports nothing any more: \(reason)")
        }
    }
    show(held, lines, buffers.spare.withLock { $0.count })
    // article ends
}

@Suite("Article: when memory is short")
struct WhenMemoryIsShortTests {
    @Test("runs as it says, on a machine that sends no notifications")
    func runs() async {
        // Given
        let (folder, time) = (TemporaryDirectory(), ManualCacheClock())
        var configuration = MemoryPressure.Configuration()
        configuration.root = folder.path
        configuration.servicePath = nil
        configuration.clock = time.clock
        let pressure = MemoryPressure(configuration)
        var shown = 0
        // When
        await example(pressure, time) { held, lines, spare in
            // Then
            shown += 1
            #expect(held == [1_000, 500, 100] && spare == 4)
            #expect(lines == ["warning, reported: 50 %", "critical, reported: 10 %", "calm: 25 %"])
        }
        #expect(shown == 1)
        await pressure.stop()
    }
}
