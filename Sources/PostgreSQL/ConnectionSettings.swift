#if PostgreSQL
internal import CFreshetPostgreSQL
internal import FreshetPlatform
internal import Glibc

/// Where a PostgreSQL server is, and as whom to connect: a URI `postgres://user:password@host:port/database?option=value`, as
/// libpq reads it. What it leaves out comes from the variables `PGHOST`, `PGUSER`, `PGPASSWORD` and so on, from `~/.pgpass`,
/// and from libpq's defaults.
package struct ConnectionSettings: Hashable, Sendable {
    /// May hold a password, so it is neither logged nor part of a message.
    private let uri: String
    /// Names the database, without user and password: for logs and messages.
    package let label: String
    private let hasManyHosts: Bool
    /// The files that the URI or the environment names, by their keywords. libpq reads them for each connection.
    private let files: [String: AbsolutePath]

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
        let host = options["host"] ?? options["hostaddr"] ?? Self.variable("PGHOST") ?? "localhost"
        let port = options["port"] ?? Self.variable("PGPORT")
        let database = options["dbname"] ?? Self.variable("PGDATABASE") ?? options["user"] ?? Self.variable("PGUSER") ?? ""
        label = "postgres://\(host)\(port.map { ":\($0)" } ?? "")/\(database)"
        hasManyHosts = host.utf8.contains(UInt8(ascii: ","))
        var files: [String: AbsolutePath] = [:]
        for (keyword, variable) in Self.fileKeywords {
            guard let path = options[keyword] ?? Self.variable(variable), Self.isPath(path, keyword) else { continue }
            do throws(AbsolutePath.Failure) { files[keyword] = try AbsolutePath(path) } catch {
                throw PostgreSQLError(.invalidURI, "\(keyword) of the database '\(path)' \(error)")
            }
        }
        self.files = files
    }

    /// Whether a text is a URI of PostgreSQL.
    package static func isURI(_ text: String) -> Bool { text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") }

    /// The keywords and values for libpq: first the defaults, then the URI, which overrides them, and then what the store depends on.
    var parameters: [(keyword: String, value: String)] {
        // A connection whose other end is gone is noticed within 20 seconds.
        var parameters = [("keepalives_idle", "5"), ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "20000")]
        // For each host.
        if Self.variable("PGCONNECT_TIMEOUT") == nil { parameters.append(("connect_timeout", "3")) }
        if hasManyHosts, Self.variable("PGTARGETSESSIONATTRS") == nil { parameters.append(("target_session_attrs", "read-write")) }
        parameters.append(("dbname", uri))
        parameters += files.map { ($0, $1.text) }
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
