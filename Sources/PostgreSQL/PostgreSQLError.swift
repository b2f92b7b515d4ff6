#if PostgreSQL
/// A failure that PostgreSQL, or the connection to it, reported.
///
/// Match it by its category, which says how to react:
///
///     do { try … } catch let error as PostgreSQLError where error.category == .diskFull { … }
package struct PostgreSQLError: Error, Hashable, Sendable {
    /// How to react.
    package let category: Category
    /// The five characters of the server's code, as listed at
    /// <https://www.postgresql.org/docs/current/errcodes-appendix.html>; empty if the server sent none.
    package let state: String
    /// The server's or libpq's message.
    package let message: String
    /// The name of the statement that failed, where there was one.
    package let statement: String?

    /// A failure that the server reported with a code.
    package init(state: String, message: String, statement: String? = nil) {
        self.init(Category(state: state), state: state, message, statement: statement)
    }

    /// A failure without a code of the server.
    package init(_ category: Category, state: String = "", _ message: String, statement: String? = nil) {
        self.category = category
        self.state = state
        self.message = message
        self.statement = statement
    }
}

extension PostgreSQLError {
    /// The kinds of failures, by the reaction that they call for.
    package enum Category: Hashable, Sendable, CaseIterable {
        /// The URI cannot be read: correct it.
        case invalidURI
        /// No server answers at the address, or none that takes connections: start it, or correct the address.
        case unreachable
        /// The server refused the name or the password: correct them.
        case refused
        /// The connection has ended: open another. A statement that was in progress may have had its effect.
        case connectionLost
        /// The deadline passed: open another connection. The statement may have had its effect, or have it later.
        case timedOut
        /// The server only reads, as a standby does: connect to the primary.
        case readOnly
        /// A lock was not granted in time: nothing was done; try again.
        case lockTimeout
        /// The transaction collided with another one and was undone: run it again.
        case collision
        /// The statement was cancelled.
        case cancelled
        /// The disk is full: make room.
        case diskFull
        /// The server takes no further connections: allow more, or open fewer.
        case tooManyConnections
        /// The role may not do it: grant it the right to.
        case insufficientPrivilege
        /// A schema, table, column or function is missing, or exists already.
        case schema
        /// A pooler lends connections in a way that the statements do not work with: connect directly.
        case pooled
        /// A constraint forbids the row.
        case constraint
        /// A value is too large, or not allowed in its column.
        case value
        /// The server or its disk failed: its log says why.
        case serverFailure
        /// The statement or its use is wrong: a mistake in the program.
        case misuse

        /// - Parameter state: the five characters of the server's code.
        package init(state: String) {
            switch state {
            case "57P01", "57P02", "57P03", "57P05", "25P03", "25P04": self = .connectionLost
            case "25006": self = .readOnly
            case "55P03": self = .lockTimeout
            case "40001", "40P01": self = .collision
            case "57014": self = .cancelled
            case "53100": self = .diskFull
            case "53300": self = .tooManyConnections
            case "42501": self = .insufficientPrivilege
            case "3F000", "42P01", "42703", "42883", "42P06", "42P07", "42710", "3D000": self = .schema
            case "54000", "53200": self = .value
            // A statement is prepared, or is not, though this connection has done otherwise.
            case "42P05", "26000": self = .pooled
            default: self.init(class: state.prefix(2))
            }
        }

        private init(class name: Substring) {
            switch name {
            case "08": self = .connectionLost
            case "22": self = .value
            case "23": self = .constraint
            case "28": self = .refused
            case "40": self = .collision
            case "53", "58", "XX", "57": self = .serverFailure
            default: self = .misuse
            }
        }

        /// What to do about it, in one sentence for a person.
        package var advice: String {
            switch self {
            case .invalidURI: "Write it as postgres://user@host:port/database; escape other characters in it by percent signs."
            case .unreachable: "Start PostgreSQL, or correct its host, port and database."
            case .refused: "Correct the user and the password: in the URI, PGUSER, PGPASSWORD or ~/.pgpass."
            case .connectionLost: "The connection to PostgreSQL has ended: it is opened again with the next call."
            case .timedOut: "PostgreSQL did not answer in time: look at its load, and at the network."
            case .readOnly: "Connect to the primary: a standby takes no writes."
            case .lockTimeout: "Another transaction holds the rows: try again."
            case .collision: "The transaction collided with another one, and nothing of it was done: try again."
            case .cancelled: "Somebody has cancelled the statement, or it took longer than statement_timeout."
            case .diskFull: "Make room on the disk of PostgreSQL."
            case .tooManyConnections: "Raise max_connections of PostgreSQL, or give the server fewer connections."
            case .insufficientPrivilege: "Grant the role the right to use and to create the schema."
            case .schema: "The schema is not the one that this program made."
            case .pooled: "Connect to PostgreSQL without a pooler; docs/cli.md says what works through one."
            case .constraint: "The row contradicts one that is stored: this is a mistake in the program."
            case .value: "PostgreSQL does not take the value."
            case .serverFailure: "Look at the log of PostgreSQL."
            case .misuse: "This is a mistake in the program."
            }
        }
    }
}

extension PostgreSQLError: CustomStringConvertible {
    package var description: String {
        var text = "PostgreSQL: \(message)"
        if !state.isEmpty { text += " (\(state))" }
        text += "\(text.last.map { ".?!".contains($0) } == true ? "" : ".") \(category.advice)"
        if let statement { text += " In: \(statement)" }
        return text
    }
}
#endif
