import Subprocess

/// The answer that a real `curl` binary received: the last response's status, its fields by lower-case name, and its
/// body.
package struct CurlAnswer: Sendable {
    package let status: Int
    package let fields: [String: String]
    package let body: String

    /// Parses the output of `curl --include`; interim responses (`100 Continue`) precede the final one.
    init?(printed: String) {
        var rest = printed.replacing("\r\n", with: "\n")[...]
        var head: Substring = ""
        repeat {
            guard rest.hasPrefix("HTTP/"), let end = rest.firstRange(of: "\n\n") else { return nil }
            head = rest[..<end.lowerBound]
            rest = rest[end.upperBound...]
        } while head.split(separator: " ").dropFirst().first?.first == "1"
        let lines = head.split(separator: "\n")
        guard let first = lines.first, let status = Int(first.split(separator: " ").dropFirst().first ?? "") else { return nil }
        self.status = status
        fields = Dictionary(
            lines.dropFirst().compactMap { line in
                line.firstIndex(of: ":").map { (line[..<$0].lowercased(), line[$0...].dropFirst().drop { $0 == " " }.description) }
            }, uniquingKeysWith: { "\($0), \($1)" })
        body = String(rest)
    }
}

/// The reason why a command of a test failed.
package struct CommandFailure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// Runs the `curl` binary and parses its output; takes at most 120 seconds.
package func curl(_ arguments: [String]) async throws -> CurlAnswer {
    let result = try await run(
        .name("curl"), arguments: Arguments(["--silent", "--show-error", "--include", "--max-time", "120", "--path-as-is"] + arguments),
        output: .string(limit: 16 << 20), error: .string(limit: 1 << 16))
    guard let answer = CurlAnswer(printed: result.standardOutput) else {
        throw CommandFailure(description: "curl \(arguments) ended with \(result.terminationStatus): \(result.standardError)")
    }
    return answer
}
