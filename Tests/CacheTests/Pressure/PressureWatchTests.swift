import FreshetTestSupport
import Glibc
import Logging
import Subprocess
import Testing

@testable import FreshetCache

/// Tests the sources that are watched, with trees of files in place of `/proc` and `/sys`.
@Suite struct PressureWatchTests {
    private let folder = TemporaryDirectory()
    private let time = ManualCacheClock()

    private var configuration: MemoryPressure.Configuration {
        var configuration = MemoryPressure.Configuration()
        configuration.root = folder.path
        configuration.servicePath = nil
        configuration.serviceTrigger = nil
        configuration.clock = time.clock
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }

    private func put(_ path: String, _ text: String) {
        var made = folder.path
        for name in path.split(separator: "/").dropLast() {
            made += "/\(name)"
            mkdir(made, 0o755)
        }
        let descriptor = open(folder.path + path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        _ = write(descriptor, text, text.utf8.count)
        close(descriptor)
    }

    private func stalls(_ some: Int, _ full: Int) -> String {
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=\(some)\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=\(full)\n"
    }

    /// Creates a process in a service of version 2, with a limit of 1,000 bytes.
    private func makeService(used: Int) {
        put("/proc/self/cgroup", "0::/shop.service\n")
        put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        put("/sys/fs/cgroup/shop.service/memory.max", "1000\n")
        put("/sys/fs/cgroup/shop.service/memory.high", "max\n")
        put("/sys/fs/cgroup/shop.service/memory.stat", "inactive_file 50\n")
        put("/sys/fs/cgroup/shop.service/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n")
        put("/sys/fs/cgroup/shop.service/memory.current", "\(used + 50)\n")
    }

    private func watches(_ sources: PressureSources) -> [String: MemoryPressure.Status.Source.Watch] {
        Dictionary(sources.status.map { (String($0.path.dropFirst(folder.path.utf8.count)), $0.watch) }) { $1 }
    }

    @Test func aMachineThatTellsNothingSaysWhy() {
        // Given an empty tree
        var sources = PressureSources(configuration)
        defer { sources.close(nil) }
        // Then
        #expect(sources.triggers.isEmpty && !sources.areReadable && sources.read(at: .zero).isEmpty)
        let watches = watches(sources)
        #expect(watches["/proc/self/cgroup"] == .not(reason: "the process is in no control group of version 2"))
        #expect(
            watches["/proc/pressure/memory"]
                == .not(reason: "there is no such file: this kernel or control group counts no waiting for memory (CONFIG_PSI, psi=1)"))
        #expect(watches["/proc/meminfo"] == .not(reason: "it does not state how much memory is available"))
    }

    @Test func withoutStallsTheMachinesMemoryIsRead() {
        // Given
        put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n")
        var sources = PressureSources(configuration)
        defer { sources.close(nil) }
        #expect(sources.read(at: .zero).map(\.level) == [.calm])
        // When
        put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n")
        // Then
        let seen = sources.read(at: .seconds(5))
        #expect(seen.map(\.level) == [.warning] && seen.first?.cause == .usage(path: folder.path + "/proc/meminfo", percent: 95))
    }

    @Test func stallsThatAreNotToldAreRead() {
        // Given a file without notifications
        put("/proc/pressure/memory", stalls(0, 0))
        var sources = PressureSources(configuration)
        defer { sources.close(nil) }
        #expect(watches(sources)["/proc/pressure/memory"] == .read(reason: "it is a plain file, which sends no notifications"))
        #expect(watches(sources)["/proc/meminfo"] == nil)
        #expect(sources.read(at: .zero).map(\.level) == [.calm])
        // When
        put("/proc/pressure/memory", stalls(600_000, 0))
        // Then
        #expect(sources.read(at: .seconds(5)).map(\.level) == [.warning])
        put("/proc/pressure/memory", "")
        #expect(sources.read(at: .seconds(10)).isEmpty)
        put("/proc/pressure/memory", stalls(700_000, 600_000))
        #expect(sources.read(at: .seconds(15)).map(\.level) == [.critical])
    }

    @Test func theLimitsOfTheControlGroupAreRead() {
        // Given
        makeService(used: 500)
        put("/proc/pressure/memory", stalls(0, 0))
        var sources = PressureSources(configuration)
        defer { sources.close(nil) }
        #expect(watches(sources)["/sys/fs/cgroup/shop.service"] == .read(reason: "and at once when it is reached"))
        #expect(sources.read(at: .zero).map(\.level) == [.calm, .calm])
        // When
        makeService(used: 980)
        // Then
        let seen = sources.read(at: .seconds(5))
        #expect(seen.map(\.level) == [.calm, .critical])
        #expect(seen.last?.cause == .usage(path: folder.path + "/sys/fs/cgroup/shop.service", percent: 98))
        // When a task was killed
        makeService(used: 100)
        put("/sys/fs/cgroup/shop.service/memory.events", "low 0\nhigh 5\nmax 9\noom 1\noom_kill 1\n")
        #expect(sources.read(at: .seconds(10)).map(\.level) == [.calm, .critical, .calm])
        #expect(sources.read(at: .seconds(15)).map(\.level) == [.calm, .calm])
    }

    @Test func aGroupWithoutLimitsSaysSo() {
        makeService(used: 1)
        put("/sys/fs/cgroup/shop.service/memory.max", "max\n")
        var sources = PressureSources(configuration)
        defer { sources.close(nil) }
        #expect(
            watches(sources)["/sys/fs/cgroup/shop.service"]
                == .not(reason: "neither this control group nor one above it has a limit of memory"))
    }

    @Test func aServiceManagerCanAskForNothing() {
        var configuration = configuration
        configuration.servicePath = "/dev/null"
        put("/proc/pressure/memory", stalls(0, 0))
        let sources = PressureSources(configuration)
        #expect(sources.triggers.isEmpty && !sources.areReadable)
        #expect(sources.status.map(\.watch) == [.not(reason: "MEMORY_PRESSURE_WATCH asks for nothing to be watched")])
    }

    @Test func aLimitThatIsReachedIsToldAtOnce() async {
        // Given a group far from its limit, and a cache
        makeService(used: 10)
        let pressure = MemoryPressure(configuration)
        let cache = Cache<Int, Int>(countLimit: 100, shards: 1)
        for key in 0..<100 { cache[key] = key }
        cache.shrinks(under: pressure)
        var events = pressure.events.makeAsyncIterator()
        #expect(pressure.status.isWatching)
        // When its usage rises, and its events change; no time passes on the clock
        put("/sys/fs/cgroup/shop.service/memory.current", "990\n")
        put("/sys/fs/cgroup/shop.service/memory.events", "low 0\nhigh 0\nmax 1\noom 0\noom_kill 0\n")
        // Then
        let cause = MemoryPressure.Cause.usage(path: folder.path + "/sys/fs/cgroup/shop.service", percent: 94)
        #expect(await events.next() == .shrunk(toPercent: 50, .warning, cause))
        #expect(cache.count == 50)
        // When it sinks, and time passes
        put("/sys/fs/cgroup/shop.service/memory.current", "100\n")
        // A reading from before it sank may count as another warning after the clock has gone on.
        var event: MemoryPressure.Event?
        repeat {
            time.advance(by: .seconds(120))
            pressure.wake()
            event = await events.next()
        } while event != nil && event != .grown(toPercent: 100)
        #expect(event == .grown(toPercent: 100))
        await pressure.stop()
        #expect(!pressure.status.isWatching)
    }

    @Test func aServiceManagersPipeIsHeard() async {
        // Given
        let path = folder.file("pipe")
        mkfifo(path, 0o600)
        var configuration = configuration
        configuration.servicePath = path
        let pressure = MemoryPressure(configuration)
        var events = pressure.events.makeAsyncIterator()
        #expect(pressure.status.sources.first == MemoryPressure.Status.Source(path: path, watch: .notified))
        #expect(pressure.status.description.contains("\(path): notifies at once"))
        // When
        let writer = open(path, O_WRONLY | O_CLOEXEC)
        for percent in [50, 25, 10] {
            #expect(write(writer, "x", 1) == 1)
            // Then
            #expect(await events.next() == .shrunk(toPercent: percent, .warning, .stalls(path: path)))
            time.advance(by: .seconds(2))
        }
        // Its writer may come and go.
        close(writer)
        pressure.report(.normal)
        time.advance(by: .seconds(30))
        pressure.wake()
        #expect(await events.next() == .grown(toPercent: 25))
        await pressure.stop()
    }

    @Test(.enabled(if: access("/proc/pressure/memory", W_OK) == 0)) func thisMachinesKernelTakesTheTriggers() throws {
        // Given the machine itself
        var configuration = configuration
        configuration.root = ""
        var sources = PressureSources(configuration)
        defer { sources.close(nil) }
        // Then
        let triggers = sources.triggers.filter { $0.path == "/proc/pressure/memory" }
        #expect(triggers.map(\.level) == [.warning, .critical])
        for trigger in triggers {
            var wait = pollfd(fd: trigger.descriptor, events: Int16(POLLPRI), revents: 0)
            #expect(poll(&wait, 1, 0) >= 0 && wait.revents & Int16(POLLERR | POLLNVAL) == 0)
        }
        // When the kernel rejects a trigger
        let refused = PSITrigger.open("/proc/pressure/memory", Array("some 5 5\0".utf8))
        // Then the error says so
        #expect(throws: PSITrigger.Refusal(reason: "Invalid argument")) { try refused.get() }
    }

    @Test func whenNobodyIsLeftTheThreadEnds() async {
        // Given
        let pressure = MemoryPressure(configuration)
        do {
            let cache = Cache<Int, Int>(shards: 1)
            cache.shrinks(under: pressure)
            #expect(pressure.status.isWatching)
        }
        // When the thread checks the next time
        let watcher = pressure.watcher
        pressure.wake()
        await watcher?.ended()
        // Then
        #expect(!pressure.status.isWatching)
    }

    /// The sources that are opened and closed again; the kernel takes some time to close all but the pipe.
    enum Watched: Sendable, CaseIterable {
        case pipe, group, machine
    }

    @Test(arguments: Watched.allCases) func aThousandStartsLeaveNothingOpen(watched: Watched) async throws {
        // Given
        mkfifo(folder.file("pipe"), 0o600)
        if watched == .group { makeService(used: 500) }
        let rounds = watched == .pipe || SoakScale.isSoak ? 1_000 : 20
        let places = watched == .machine ? ["", ""] : [folder.path, watched == .pipe ? folder.file("pipe") : ""]
        // When
        let ending = try await run(
            Product.cache, arguments: Arguments(["pressure", "\(rounds)"] + places), output: .string(limit: 1_000), error: .discarded)
        // Then descriptors, before and after, and threads
        let counts = ending.standardOutput.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(counts.count == 4)
        #expect(counts[0] == counts[1])
        #expect(counts[3] < counts[2] + 10)
    }
}
