import Dispatch
import FreshetTestSupport
import Glibc
import Synchronization
import Testing

@testable import FreshetServer

@Suite("The lock of a data directory")
struct DirectoryLockTests {
    @Test("a second holder is refused, and closes no descriptor but its own")
    func second() throws {
        // Given a directory that is held, and a thread that opens and closes other files
        let directory = TemporaryDirectory()
        let holder = try DirectoryLock.take(directory.path)
        let isDone = Atomic(false)
        let lost = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            if thread == 0 {
                // When others try to hold it
                for _ in 0..<20_000 {
                    #expect(throws: StoreError.inUse(path: directory.path)) { try DirectoryLock.take(directory.path) }
                }
                isDone.store(true, ordering: .relaxed)
            } else {
                while !isDone.load(ordering: .relaxed) {
                    let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    for _ in 0..<100 where fcntl(file, F_GETFD) < 0 { lost.add(1, ordering: .relaxed) }
                    close(file)
                }
            }
        }
        // Then no descriptor of the thread was closed, and the holder still has the lock
        #expect(lost.load(ordering: .relaxed) == 0)
        withExtendedLifetime(holder) {}
    }
}
