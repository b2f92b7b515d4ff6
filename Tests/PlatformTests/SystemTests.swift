import FreshetPlatform
import Glibc
import Testing

@Suite("Threads, wake-ups and directories")
struct SystemTests {
    @Test("a thread runs the closure, with all signals blocked") func thread() async {
        let isBlocked = await withCheckedContinuation { continuation in
            let failure = DetachedThread.start {
                var signals = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &signals)
                continuation.resume(returning: sigismember(&signals, SIGTERM) == 1)
            }
            #expect(failure == 0)
        }
        #expect(isBlocked)
    }

    @Test("a wake-up is readable once it was signalled") func wakeup() throws {
        let event = try WakeupEvent()
        defer { close(event.descriptor) }
        var waits = pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waits, 1, 0) == 0)
        event.signal()
        event.signal()
        #expect(poll(&waits, 1, 0) == 1)
    }

    @Test("missing levels are created for this user alone, and existing ones are no failure") func directories() throws {
        var template = Array("/tmp/freshet-platform-XXXXXX".utf8CString)
        let root = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { for path in [root + "/a/b", root + "/a", root] { rmdir(path) } }
        try DirectoryTree.create(root + "/a/b")
        try DirectoryTree.create(root + "/a//b/")
        var status = stat()
        #expect(stat(root + "/a/b", &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test("a failure names the level and the system's reason") func failure() throws {
        let failure = #expect(throws: SystemFailure.self) { try DirectoryTree.create("/proc/freshet/data") }
        #expect(failure?.path == "/proc/freshet" && failure?.reason.isEmpty == false)
    }

    @Test("clocks agree with each other") func clocks() {
        #expect(SystemClock.bootNanoseconds >= SystemClock.monotonicNanoseconds - 1_000_000_000)
        #expect(abs(SystemClock.wallNanoseconds / 1_000_000_000 - SystemClock.coarseWallSeconds) <= 2)
        let first = SystemClock.monotonicNanoseconds
        #expect(SystemClock.monotonicNanoseconds >= first)
    }
}
