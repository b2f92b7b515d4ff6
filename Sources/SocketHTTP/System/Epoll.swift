import CLinux
import Glibc

/// A level-triggered epoll set.
struct Epoll {
    /// What to be told of. Errors and hang-ups are always reported, asked for or not.
    struct Interest: OptionSet {
        let rawValue: UInt32
        static let reading = Interest(rawValue: EPOLLIN.rawValue)
        static let writing = Interest(rawValue: EPOLLOUT.rawValue)
    }

    /// The descriptor of the set itself: readable while any member has news.
    let descriptor: Int32

    init() throws(SocketHTTPError) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SocketHTTPError(errno: errno, during: "epoll_create1") }
        self.descriptor = descriptor
    }

    /// Returns false where the kernel refuses, as it does when it is out of memory or of watches.
    func add(_ member: Int32, _ interest: Interest, token: UInt64) -> Bool {
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
        return epoll_ctl(descriptor, EPOLL_CTL_ADD, member, &event) == 0
    }

    func modify(_ member: Int32, _ interest: Interest, token: UInt64) {
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
        _ = epoll_ctl(descriptor, EPOLL_CTL_MOD, member, &event)
    }

    func remove(_ member: Int32) {
        var event = epoll_event()
        _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, member, &event)
    }

    /// Fills `events` with what is ready now, without waiting; returns how many.
    func poll(_ events: UnsafeMutableBufferPointer<epoll_event>) -> Int {
        while true {
            let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), 0)
            if count >= 0 { return Int(count) }
            if errno != EINTR { return 0 }
        }
    }
}

extension epoll_event {
    var isReadable: Bool { events & EPOLLIN.rawValue != 0 }
    var isWritable: Bool { events & EPOLLOUT.rawValue != 0 }
    var isBroken: Bool { events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 }
}
