import Glibc

/// What to do with connections that wait to be accepted, decided without sockets.
struct AcceptPolicy: Sendable {
    /// What to do with the next one.
    enum Decision: Equatable {
        case serve
        /// Accept, answer `503`, close.
        case refuse
        /// Leave it in the kernel's backlog for now.
        case pause
    }

    /// What an error of `accept` means.
    enum Failure: Equatable {
        /// That one connection is gone; the next may be fine.
        case skip
        /// There is none left.
        case done
        /// Something has run out: wait a moment. Nobody is lost, the kernel keeps them.
        case pause
    }

    /// Connections that may be open.
    let limit: Int
    /// Connections beyond it that may be open while they are told so.
    var refusals = 128

    func decide(open: Int) -> Decision {
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
