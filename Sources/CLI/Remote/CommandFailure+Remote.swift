import FreshetClient
import FreshetTransport
import FreshetWire

extension CommandFailure {
    /// The failure for a successful answer whose body is no message of the protocol.
    init(unreadable error: WireError) {
        self.init(.software, "the server's answer cannot be read: \(error.description); is it a Freshet server?")
    }

    /// The failure for a page that does not continue from where its request began, so that the requests would have no end.
    init(wrongPage fault: String, server: String) {
        self.init(.software, "\(server): \(fault); does a cache on the way ignore the query of a URL?")
    }

    /// The failure for an unsuccessful answer.
    /// - Parameters:
    ///   - server: the server for people.
    ///   - path: the path of the request.
    init(_ reply: HTTPReply, server: String, path: String) {
        guard let problem = (try? Problem.own(json: reply.body)).flatMap({ $0 }) else {
            let way = reply.proxy.map { " (through \($0))" } ?? ""
            self.init(
                .software,
                "\(server): the answer\(way) with status \(reply.status) has no problem description; is it a Freshet server?")
            return
        }
        guard problem.code == .notFound, problem.detail.hasPrefix("Nothing is at this path"), !server.hasPrefix("unix:") else {
            self.init(problem, status: reply.status)
            return
        }
        // A server with an admin socket has the paths of operators only there.
        guard path.hasPrefix("/admin/") || path == "/readyz" else {
            // No record is missing: the address is wrong.
            self.init(
                .usage,
                "\(server) is a Freshet server, but not at this path: --server takes http://HOST:PORT, and --namespace NAME names a namespace"
            )
            return
        }
        self.init(
            .unavailable,
            "\(problem.description) \(server) does not serve operators: name the admin socket of the server with --admin-socket PATH")
    }

    /// The failure for a problem from the server.
    init(_ problem: Problem, status: Int? = nil) {
        var message = problem.description
        if let current = problem.current { message += " (it is at revision \(current.revision))" }
        // As after a lost connection: the write may be stored.
        self.init(problem.code == .outcomeUnknown ? .unavailable : ExitStatus(httpStatus: status ?? problem.status), message)
    }

    /// The failure for a missing answer.
    /// - Parameter repeatable: whether it is safe to repeat the request.
    init(_ error: TransportError, server: String, repeatable: Bool) {
        let hint = repeatable ? "" : "; whether the server has acted is unknown: look before you repeat it"
        switch error {
        case .couldNotConnect where server.hasPrefix("unix:"):
            self.init(
                .unavailable,
                "\(server): \(error.description); `freshet serve --admin-socket PATH` makes the socket, and only the server's user may open it"
            )
        case .couldNotConnect, .couldNotResolve, .tls:
            self.init(.unavailable, "\(server): \(error.description); `freshet serve` starts one, --server names another")
        case .untrusted: self.init(.unavailable, "\(server): \(error.description), with --ca")
        case .timedOut, .connectionLost: self.init(.unavailable, "\(server): \(error.description)\(hint)")
        case .tooLarge(let limit):
            self.init(.software, "\(server): the answer has more than \(grouped(limit)) bytes; is it a Freshet server?\(hint)")
        case .invalidRequest: self.init(.usage, "\(server): \(error.description)")
        default: self.init(.unavailable, "\(server): \(error.description)")
        }
    }
}

extension ExitStatus {
    /// The exit status for an HTTP status other than success.
    init(httpStatus: Int) {
        switch httpStatus {
        case 404: self = .notFound
        case 409, 412: self = .conflict
        case 401, 403: self = .noPermission
        case 400...499 where httpStatus != 429: self = .data
        case 429, 503: self = .tryAgain
        case 500, 507: self = .inputOutput
        default: self = .unavailable
        }
    }
}
