import Synchronization

/// Idle loops that no server uses. They are kept for the next server: a test suite starts hundreds of servers. Since a
/// loop is never destroyed, messages can be posted to it at any time.
enum EventLoopPool {
    private static let free = Mutex<[EventLoop]>([])

    static func take(_ count: Int) throws(SocketHTTPError) -> [EventLoop] {
        var loops = free.withLock { free in
            let taken = Array(free.suffix(count))
            free.removeLast(taken.count)
            return taken
        }
        do throws(SocketHTTPError) {
            while loops.count < count { loops.append(try EventLoop.start()) }
        } catch {
            giveBack(loops)
            throw error
        }
        return loops
    }

    static func giveBack(_ loops: [EventLoop]) {
        free.withLock { $0.append(contentsOf: loops) }
    }
}
