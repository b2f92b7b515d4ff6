import Glibc

/// How many descriptors this process may hold: each connection needs one.
public enum DescriptorLimit {
    /// The soft limit now in force.
    public static var current: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the soft limit to the hard one, for a program that owns its process; a library does not do so unasked.
    ///
    /// Returns the limit then in force.
    @discardableResult
    public static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return current }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return current
    }

    /// A warning for an operator whose limit is below the connections allowed; `nil` if the limit suffices.
    ///
    /// - Parameters:
    ///   - limit: the descriptors that the process may hold.
    ///   - connections: the connections that the server allows.
    static func shortage(limit: Int, connections: Int) -> String? {
        guard limit < connections else { return nil }
        let needed = connections > .max - reserve ? .max : connections + reserve
        return """
            This process may open \(limit) files, and each connection takes one: of the \(connections) connections allowed, \
            \(room(within: limit)) are open at once, and the others wait to be accepted. Raise the hard limit to \(needed) \
            (LimitNOFILE in systemd, --ulimit nofile in Docker, ulimit -n in a shell), or allow fewer.
            """
    }

    /// The connections that a server accepts, so that descriptors remain for its other uses.
    ///
    /// - Parameter limit: the descriptors that the process may hold.
    static func room(within limit: Int) -> Int { max(limit - reserve, limit / 2) }

    /// The descriptors that a server needs besides its connections: its listeners, event loops, database and log, files that a reload reads,
    /// and the connections of operators.
    private static let reserve = 256
}
