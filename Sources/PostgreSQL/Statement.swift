#if PostgreSQL
/// A statement with parameters `$1`, `$2` and so on. A connection prepares it when it is first used there.
///
/// The text is a constant of the program: nothing in it comes from a request.
package struct Statement: Hashable, Sendable {
    /// Unique among the statements of the program.
    package let name: String
    package let sql: String

    package init(_ name: StaticString, _ sql: StaticString) {
        self.name = name.description
        self.sql = sql.description
    }

    package static func == (left: Statement, right: Statement) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A statement with its parameters.
package struct Request: Sendable {
    package let statement: Statement
    package let parameters: Parameters

    package init(_ statement: Statement, _ parameters: Parameters = Parameters()) {
        self.statement = statement
        self.parameters = parameters
    }
}
#endif
