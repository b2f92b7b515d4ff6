/// Why a command ends without success: one line for a person, and an exit status for a program.
struct CommandFailure: Error, Hashable, Sendable {
    let status: ExitStatus
    /// The problem, and how to fix it.
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
