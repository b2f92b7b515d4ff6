package import CFreshetLinux
import Glibc

/// An epoll set, level-triggered unless edges are asked for.
package struct Epoll: Sendable {
    /// The events to report. Errors and hang-ups are always reported, even if not asked for.
    package struct Interest: OptionSet {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let reading = Interest(rawValue: EPOLLIN.rawValue)
        package static let writing = Interest(rawValue: EPOLLOUT.rawValue)
        /// Each change is reported once, however long the state lasts.
        package static let onEdges = Interest(rawValue: EPOLLET.rawValue)
        /// Input and its end, each reported once: every further report would cost a look at the socket, a twentieth of
        /// the work of a delivery. A change of the interest makes epoll report the present state again.
        static let input: Interest = [.reading, Interest(rawValue: EPOLLRDHUP.rawValue), .onEdges]
        /// The end of the input alone, reported once.
        static let inputEnd: Interest = [Interest(rawValue: EPOLLRDHUP.rawValue), .onEdges]
    }

    /// The descriptor of the set itself.
    package let descriptor: Int32

    package init() throws(SocketHTTPError) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SocketHTTPError(errno: errno, during: "epoll_create1") }
        self.descriptor = descriptor
    }

    /// Adds a descriptor; returns false if the kernel refuses, as it does when it is out of memory or of watches.
    package func add(_ member: Int32, _ interest: Interest, token: UInt64) -> Bool {
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
        return epoll_ctl(descriptor, EPOLL_CTL_ADD, member, &event) == 0
    }

    package func modify(_ member: Int32, _ interest: Interest, token: UInt64) {
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
        _ = epoll_ctl(descriptor, EPOLL_CTL_MOD, member, &event)
    }

    package func remove(_ member: Int32) { _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, member, nil) }

    /// Fills `events` with the events that are ready, and sleeps until there are some; returns how many.
    ///
    /// - Parameter milliseconds: the longest sleep: 0 for none, -1 for no limit.
    package func wait(_ events: UnsafeMutableBufferPointer<epoll_event>, milliseconds: Int32) -> Int {
        let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), milliseconds)
        // A signal is as good a reason to go round as any. All other errors would come again at once, and without end.
        guard count < 0, errno != EINTR else { return Int(max(0, count)) }
        fatalError("an event loop's epoll descriptor \(descriptor) was closed by other code of this process: find what closes it")
    }
}

extension epoll_event {
    package var isReadable: Bool { events & EPOLLIN.rawValue != 0 }
    package var isWritable: Bool { events & EPOLLOUT.rawValue != 0 }
    package var isBroken: Bool { events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 }
    /// Whether the end of the input follows the bytes that are there to read.
    var endsInput: Bool { isBroken || events & EPOLLRDHUP.rawValue != 0 }
}
