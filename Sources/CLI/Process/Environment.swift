import Glibc

/// The variables that the program was started with.
struct Environment: Sendable {
    private let variables: [String: String]

    init(_ variables: [String: String]) { self.variables = variables }

    /// This process's own.
    static var current: Environment {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return Environment(variables)
    }

    subscript(name: String) -> String? { variables[name] }

    /// The value of a variable that is set and not empty.
    func value(of name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
}
