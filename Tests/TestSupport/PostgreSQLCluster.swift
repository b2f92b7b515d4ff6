import Foundation
import Synchronization

/// A PostgreSQL server for the tests of this process, started when it is first used and stopped when the process ends. It listens on a
/// Unix socket only.
package final class PostgreSQLCluster: Sendable {
    /// The folder of PostgreSQL's programs; `nil` if the server is not installed.
    package static let programs: String? = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newest = versions.compactMap { Int($0) }.filter { $0 >= 14 }.max()
        guard let newest else { return nil }
        let folder = "/usr/lib/postgresql/\(newest)/bin"
        return FileManager.default.isExecutableFile(atPath: "\(folder)/initdb") ? folder : nil
    }()

    package static var isInstalled: Bool { programs != nil }
    package static let reason = "the server of PostgreSQL is not installed: apt-get install postgresql"

    /// Starts the cluster at the first use, which takes some seconds.
    package static let shared: Result<PostgreSQLCluster, any Error> = Result { try PostgreSQLCluster() }

    package struct NotStarted: Error {
        let log: String
    }

    /// The folder of the socket.
    package let folder: String
    private let programs: String
    private let process: Process
    /// The process runs until this pipe is closed, which the end of the test process does too.
    private let pipe: Pipe
    /// Says "ready" after each start.
    private let output: Pipe
    private let databases = Mutex((made: 0, free: [String]()))

    /// - Parameters:
    ///   - settings: lines of `postgresql.conf`.
    ///   - primary: the server that the new one follows as a standby; `nil` makes another cluster.
    package init(settings: [String] = [], standbyOf primary: PostgreSQLCluster? = nil) throws {
        guard let programs = Self.programs else { throw NotStarted(log: Self.reason) }
        self.programs = programs
        var template = Array("/tmp/freshet-pg-XXXXXX".utf8CString)
        folder = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? ""
        }
        process = Process()
        pipe = Pipe()
        output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "cluster", folder, programs, primary?.folder ?? ""] + settings
        process.standardInput = pipe
        process.standardOutput = output
        try process.run()
        // The last line says whether the server runs.
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard text == "ready\n" else { throw NotStarted(log: text) }
    }

    deinit { try? pipe.fileHandleForWriting.close() }

    /// The URI of a database.
    package func uri(_ database: String, user: String = "postgres") -> String {
        "postgres://\(user)@/\(database)?host=\(folder.replacingOccurrences(of: "/", with: "%2F"))"
    }

    /// A database that no other test uses meanwhile. It may have been used before.
    package func lend() throws -> String {
        let name: (String, isNew: Bool) = databases.withLock { databases in
            if let free = databases.free.popLast() { return (free, false) }
            databases.made += 1
            return ("test\(databases.made)", true)
        }
        if name.isNew { try run("createdb", name.0) }
        return name.0
    }

    /// A database without Freshet's tables, of the shared cluster. Starting that takes seconds, in which no thread of the cooperative pool
    /// is blocked.
    package static func lendEmpty() async throws -> (PostgreSQLCluster, String) {
        try await Sockets.onThread {
            let cluster = try shared.get()
            let name = try cluster.lend()
            try cluster.query("SET client_min_messages = error; DROP SCHEMA IF EXISTS freshet CASCADE", in: name)
            return (cluster, name)
        }
    }

    package func giveBack(_ database: String) { databases.withLock { $0.free.append(database) } }

    /// Runs one of PostgreSQL's programs as its superuser.
    @discardableResult
    package func run(_ program: String, _ arguments: String...) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "\(programs)/\(program)")
        process.arguments = ["-h", folder, "-U", "postgres"] + arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NotStarted(log: text) }
        return text
    }

    /// Ends the server's processes at once, and starts it again: changes that are not on its disk are lost.
    package func crash() throws { try command("crash") }

    /// Makes a standby a primary. The server that it has followed goes on.
    package func promote() throws { try command("promote") }

    private func command(_ name: String) throws {
        try pipe.fileHandleForWriting.write(contentsOf: Data("\(name)\n".utf8))
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard text == "ready\n" else { throw NotStarted(log: text) }
    }

    /// Runs SQL that a test needs and the product does not.
    @discardableResult
    package func query(_ sql: String, in database: String = "postgres") throws -> String {
        try run("psql", "-d", database, "-v", "ON_ERROR_STOP=1", "-Atqc", sql).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// PostgreSQL refuses to run as root, so root becomes the user of the Debian package. The log is for the reader of a failure.
    private static let script = """
        set -u
        folder=$1 programs=$2 primary=$3
        shift 3
        as() { "$@"; }
        if [ "$(id -u)" -eq 0 ]; then
            chown postgres "$folder"
            as() { setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"; }
        fi
        cd "$folder"
        if [ -n "$primary" ]; then
            as "$programs/pg_basebackup" -h "$primary" -U postgres -D "$folder/data" -R -c fast --no-sync >"$folder/initdb.log" 2>&1
        else
            as "$programs/initdb" -D "$folder/data" -U postgres --encoding=UTF8 --locale=C --no-sync -A trust >"$folder/initdb.log" 2>&1
        fi
        {
            echo "listen_addresses = ''"
            echo "unix_socket_directories = '$folder'"
            echo "max_connections = 300"
            echo "shared_buffers = 64MB"
            for line in "$@"; do echo "$line"; done
        } >>"$folder/data/postgresql.conf"
        printf '%s\\n' 'local all guarded scram-sha-256' 'local all all trust' 'local replication all trust' >"$folder/data/pg_hba.conf"
        control() { as "$programs/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 "$@" >/dev/null 2>&1 </dev/null && echo ready || cat "$folder"/*.log; }
        control start
        while read -r command; do
            case $command in
            crash) control -m immediate restart ;;
            promote) control promote ;;
            esac
        done
        as "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1
        rm -rf "$folder"
        """
}
