#if PostgreSQL
internal import CFreshetPostgreSQL
internal import Glibc

/// A connection to a PostgreSQL server.
///
/// It belongs to one thread at a time: the class is not `Sendable`, so the compiler lets it move to another thread only as a
/// `sending` value or inside a `Mutex`. Each call blocks its thread until its deadline at most.
package final class Connection {
    let handle: OpaquePointer
    /// The names of the statements that the server has prepared for this connection.
    var prepared: Set<String> = []
    /// Whether the server has said, in the current exchange, that it ended a commit's wait for a standby before that had confirmed.
    ///
    /// Noted as the notice arrives, however many others come before it: a session may have been set to send a hundred.
    package private(set) var wasStandbyWaitEnded = false
    /// Whether the connection can be used: not once it has ended or a deadline has passed.
    package internal(set) var isUsable = true

    /// Connects. Blocks for the settings' `connect_timeout`, 3 seconds by default, for each host at most.
    package init(_ settings: ConnectionSettings) throws(PostgreSQLError) {
        let opened = Self.open(settings.parameters)
        guard let opened else { throw PostgreSQLError(.unreachable, "no memory for a connection") }
        handle = opened
        guard PQstatus(opened) == CONNECTION_OK else {
            let message = Self.message(of: opened)
            // libpq gives no code. It says that a password was used for every failure after the authentication too.
            let isRefused =
                PQconnectionNeedsPassword(opened) == 1 || message.contains("authentication failed")
                || message.contains("no pg_hba.conf entry") || message.contains("FATAL:  role \"")
            let isFull =
                message.contains("too many clients") || message.contains("too many connections")
                || message.contains("remaining connection slots")
            throw PostgreSQLError(isRefused ? .refused : isFull ? .tooManyConnections : .unreachable, message)
        }
        guard PQsetnonblocking(opened, 1) == 0, PQenterPipelineMode(opened) == 1 else {
            throw PostgreSQLError(.misuse, Self.message(of: opened))
        }
        _ = PQsetNoticeReceiver(
            opened,
            { context, result in
                guard let context, let result else { return }
                let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
                connection.note(freshet_result_function(result).map { String(cString: $0) } ?? "")
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { PQfinish(handle) }

    /// The server's version, for example 150018.
    package var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// The number of the server's process for this connection.
    package var process: Int { Int(PQbackendPID(handle)) }

    /// Whether a transaction is open or has failed, so that it has to be ended.
    package var isInTransaction: Bool {
        switch PQtransactionStatus(handle) {
        case PQTRANS_INTRANS, PQTRANS_INERROR: true
        default: false
        }
    }

    /// Whether the connection is encrypted. A Unix socket never is.
    package var isEncrypted: Bool { PQsslInUse(handle) == 1 }

    /// The value of a parameter that the server reports by itself, such as `server_encoding`.
    package func serverParameter(_ name: String) -> String? { PQparameterStatus(handle, name).map { String(cString: $0) } }

    /// The file descriptor of the socket.
    var socket: Int32 { PQsocket(handle) }

    /// - Parameter function: that of the server which sent the notice. The text may be in any language.
    private func note(_ function: String) {
        if function == "SyncRepWaitForLSN" { wasStandbyWaitEnded = true }
    }

    func forgetNotices() { wasStandbyWaitEnded = false }

    /// The failure of a call to libpq; the connection is not used again if it has ended.
    func failure(_ category: PostgreSQLError.Category = .misuse, statement: String? = nil) -> PostgreSQLError {
        let isLost = PQstatus(handle) == CONNECTION_BAD
        if isLost { isUsable = false }
        return PostgreSQLError(isLost ? .connectionLost : category, Self.message(of: handle), statement: statement)
    }

    /// One line. libpq's messages hold no password.
    static func message(of handle: OpaquePointer) -> String {
        let text = String(cString: PQerrorMessage(handle))
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { $0.isWhitespace } }
        return lines.isEmpty ? "the connection failed" : lines.joined(separator: "; ")
    }

    private static func open(_ parameters: [(keyword: String, value: String)]) -> OpaquePointer? {
        var texts: [UnsafeMutablePointer<CChar>?] = []
        defer { for text in texts { free(text) } }
        func copy(_ text: String) -> UnsafePointer<CChar>? {
            let copy = strdup(text)
            texts.append(copy)
            return UnsafePointer(copy)
        }
        let keywords = parameters.map { copy($0.keyword) } + [nil]
        let values = parameters.map { copy($0.value) } + [nil]
        return PQconnectdbParams(keywords, values, 1)
    }
}
#endif
