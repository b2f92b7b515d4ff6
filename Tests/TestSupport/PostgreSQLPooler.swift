import Foundation

/// PgBouncer before the server of the tests, from `init` until the value is released. It listens on a Unix socket only.
package final class PostgreSQLPooler: Sendable {
    /// For how long it lends a connection.
    package enum Mode: String, Sendable, CaseIterable {
        case session, transaction
    }

    private static let program = "/usr/sbin/pgbouncer"

    package static var isInstalled: Bool { PostgreSQLCluster.isInstalled && FileManager.default.isExecutableFile(atPath: program) }
    package static let reason = "PgBouncer or PostgreSQL is not installed: apt-get install pgbouncer postgresql"

    private let folder: String
    private let process: Process
    /// The process runs until this pipe is closed, which the end of the test process does too.
    private let pipe: Pipe

    /// Returns once it takes connections.
    package init(_ mode: Mode, before cluster: PostgreSQLCluster) throws {
        folder = "\(cluster.folder)/pooler-\(UUID().uuidString.prefix(8))"
        process = Process()
        pipe = Pipe()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "pooler", folder, cluster.folder, mode.rawValue, Self.program]
        process.standardInput = pipe
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard text == "ready\n" else { throw PostgreSQLCluster.NotStarted(log: text) }
    }

    deinit { try? pipe.fileHandleForWriting.close() }

    /// The URI of a database.
    package func uri(_ database: String) -> String {
        "postgres://postgres@/\(database)?host=\(folder.replacingOccurrences(of: "/", with: "%2F"))"
    }

    /// PgBouncer refuses to run as root too.
    private static let script = """
        set -u
        folder=$1 server=$2 mode=$3 program=$4
        as=()
        if [ "$(id -u)" -eq 0 ]; then as=(setpriv --reuid=postgres --regid=postgres --clear-groups --); fi
        "${as[@]}" mkdir "$folder"
        "${as[@]}" tee "$folder/pgbouncer.ini" >/dev/null <<END
        [databases]
        * = host=$server user=postgres
        [pgbouncer]
        auth_type = any
        pool_mode = $mode
        listen_port = 5432
        unix_socket_dir = $folder
        logfile = $folder/log
        END
        cd "$folder"
        "${as[@]}" "$program" pgbouncer.ini >"$folder/output" 2>&1 </dev/null &
        pooler=$!
        until [ -S "$folder/.s.PGSQL.5432" ] || ! kill -0 "$pooler" 2>/dev/null; do sleep 0.02; done
        kill -0 "$pooler" 2>/dev/null && echo ready || cat "$folder/output"
        read -r _
        kill -KILL "$pooler"
        """
}
