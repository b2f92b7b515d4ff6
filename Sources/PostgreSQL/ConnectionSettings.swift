#if PostgreSQL
internal import CFreshetPostgreSQL
internal import FreshetPlatform
internal import Glibc

/// Where a PostgreSQL server is, and as whom to connect: a URI `postgres://user:password@host:port/database?option=value`, as
/// libpq reads it. What it leaves out comes from the variables `PGHOST`, `PGUSER`, `PGPASSWORD` and so on, from `~/.pgpass`,
/// and from libpq's defaults.
package struct ConnectionSettings: Sendable {
    /// May hold a password, so it is neither logged nor part of a message.
    private let uri: String
    /// Names the database, without user and password: for logs and messages.
    package let label: String
    /// The files that the URI or the environment names, by their keywords. libpq reads them for each connection.
    private let files: [String: AbsolutePath]
    /// Each host of the URI, with its part of the lists of ports and addresses. One at least.
    private let places: [[(keyword: String, value: String)]]
    /// The host to which these settings lead; `nil` leaves the choice to libpq.
    private var place: Int?

    /// The keywords that name a file or a directory, and their variables.
    private static let fileKeywords = [
        "passfile": "PGPASSFILE", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY", "sslrootcert": "PGSSLROOTCERT", "sslcrl": "PGSSLCRL",
        "sslcrldir": "PGSSLCRLDIR",
    ]

    /// Relative paths of files, in the URI and in the environment, begin at the present working directory.
    ///
    /// - Throws: ``PostgreSQLError/Category/invalidURI``.
    package init(uri: String) throws(PostgreSQLError) {
        guard let options = Self.parse(uri) else {
            // libpq's own message may quote a password.
            throw PostgreSQLError(.invalidURI, "the URI of the database cannot be read")
        }
        self.uri = uri
        let named = options["host"] ?? (options["hostaddr"] == nil ? Self.variable("PGHOST") : nil)
        let host = named ?? options["hostaddr"] ?? "localhost"
        let port = options["port"] ?? Self.variable("PGPORT")
        let database = options["dbname"] ?? Self.variable("PGDATABASE") ?? options["user"] ?? Self.variable("PGUSER") ?? ""
        label = "postgres://\(host)\(port.map { ":\($0)" } ?? "")/\(database)"
        var files: [String: AbsolutePath] = [:]
        for (keyword, variable) in Self.fileKeywords {
            guard let path = options[keyword] ?? Self.variable(variable), Self.isPath(path, keyword) else { continue }
            do throws(AbsolutePath.Failure) { files[keyword] = try AbsolutePath(path) } catch {
                throw PostgreSQLError(.invalidURI, "\(keyword) of the database '\(path)' \(error)")
            }
        }
        self.files = files
        places = Self.places([("host", named), ("hostaddr", options["hostaddr"]), ("port", port)])
    }

    /// Settings that lead to one of the hosts alone, whether it accepts writes or not, in the order of the URI.
    package var hosts: [ConnectionSettings] {
        places.indices.map { index in
            var settings = self
            settings.place = index
            return settings
        }
    }

    /// Whether a text is a URI of PostgreSQL.
    package static func isURI(_ text: String) -> Bool { text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") }

    /// The keywords and values for libpq: first the defaults, then the URI, which overrides them, and then what the store depends on.
    var parameters: [(keyword: String, value: String)] {
        // A connection whose other end is gone is noticed within 20 seconds.
        var parameters = [("keepalives_idle", "5"), ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "20000")]
        // For each host.
        if Self.variable("PGCONNECT_TIMEOUT") == nil { parameters.append(("connect_timeout", "3")) }
        if places.count > 1, Self.variable("PGTARGETSESSIONATTRS") == nil { parameters.append(("target_session_attrs", "read-write")) }
        parameters.append(("dbname", uri))
        parameters += files.map { ($0, $1.text) }
        // A later value takes precedence.
        if let place { parameters += places[place] + [("target_session_attrs", "any")] }
        // All texts are UTF-8; a copy finds the servers by their connections' name.
        parameters += [("client_encoding", "UTF8"), ("application_name", "freshet")]
        return parameters
    }

    /// Whether a value names a file: the system's certificates have a name without one, and a key may be in a device.
    private static func isPath(_ value: String, _ keyword: String) -> Bool {
        switch keyword {
        case _ where value.isEmpty: false
        case "sslrootcert": value != "system"
        case "sslkey": !value.contains(":")
        default: true
        }
    }

    /// Takes lists apart, of which one with a single part applies to each host, as libpq does.
    private static func places(_ lists: [(keyword: String, text: String?)]) -> [[(keyword: String, value: String)]] {
        let lists = lists.map { list in
            (list.keyword, list.text.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? [])
        }
        return (0..<max(lists.map(\.1.count).max() ?? 1, 1)).map { index in
            lists.compactMap { keyword, parts in
                parts.isEmpty ? nil : (keyword, parts.count == 1 ? parts[0] : index < parts.count ? parts[index] : "")
            }
        }
    }

    private static func parse(_ uri: String) -> [String: String]? {
        guard isURI(uri), !uri.utf8.contains(0) else { return nil }
        var message: UnsafeMutablePointer<CChar>?
        let parsed = PQconninfoParse(uri, &message)
        PQfreemem(message)
        guard let parsed else { return nil }
        defer { PQconninfoFree(parsed) }
        var options: [String: String] = [:]
        var place = parsed
        while let keyword = place.pointee.keyword {
            if let value = place.pointee.val { options[String(cString: keyword)] = String(cString: value) }
            place += 1
        }
        return options
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}

extension ConnectionSettings: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { label }
    package var debugDescription: String { label }
}
#endif
