import Glibc

/// Decides how to handle connections that wait to be accepted; needs no sockets.
struct AcceptPolicy: Sendable {
    /// The decision about the next connection.
    enum Decision: Equatable {
        case serve
        /// Accept, answer `503`, close.
        case refuse
        /// Leave it in the kernel's backlog for now.
        case pause
    }

    /// The meaning of an error of `accept`.
    enum Failure: Equatable {
        /// The one connection is gone; the next may be fine.
        case skip
        /// The backlog is empty.
        case done
        /// A resource has run out: wait a moment. No connection is lost, the kernel keeps them.
        case pause
    }

    /// Connections that may be open.
    let limit: Int
    /// Connections beyond the limit that may be open while they are answered `503`.
    var refusals = 128
    /// Connections at which accepting pauses in any case, since other uses need the remaining descriptors; `nil` for none.
    var room: Int?

    func isOutOfRoom(open: Int) -> Bool { room.map { open >= $0 } ?? false }

    func decide(open: Int) -> Decision {
        if isOutOfRoom(open: open) { return .pause }
        if open < limit { return .serve }
        return open - refusals < limit ? .refuse : .pause
    }

    /// Linux passes errors of the new connection through `accept` (accept(2), "Error handling").
    static func classify(_ code: Int32) -> Failure {
        switch code {
        case EAGAIN, EWOULDBLOCK: .done
        case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ETIMEDOUT:
            .skip
        default: .pause
        }
    }
}

extension AcceptPolicy {
    /// The connections of a reserve.
    private static let reserve = 64

    /// - Parameters:
    ///   - hasReserve: whether the listener serves some connections beyond those of the others, refused ones included.
    ///   - room: the connections for which there are descriptors. A listener with a reserve takes from the other ones too.
    init(limit: Int, hasReserve: Bool, room: Int? = nil) {
        self.init(limit: limit, room: hasReserve ? nil : room)
        let (increased, overflows) = limit.addingReportingOverflow(refusals + Self.reserve)
        if hasReserve, !overflows { self.init(limit: increased) }
    }
}
