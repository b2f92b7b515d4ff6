/// The meanings of the program's exit status; those from 64 on are sysexits(3)'s.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    /// There is no such record; for `demo`: a check failed.
    case notFound = 1
    /// The record is not at the revision that was asked for.
    case conflict = 2
    case usage = 64
    /// Input or stored data is not valid.
    case data = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case tryAgain = 75
    case noPermission = 77

    /// The status's meaning, for the table in the help.
    var meaning: String {
        switch self {
        case .success: "done"
        case .notFound: "there is no such record; demo: a check failed; simulate, search, worlds: a rule was broken"
        case .conflict: "the record is not at the revision that was asked for"
        case .usage: "the command was not written as it takes"
        case .data: "the input, or the database, is not what it should be"
        case .noInput: "the file to read is not there or cannot be read"
        case .unavailable: "the server cannot be reached, or the port is taken; or the outcome of a write is unknown"
        case .software: "the program met something that it does not expect"
        case .cannotCreate: "a file or the data directory cannot be made or written"
        case .inputOutput: "reading or writing failed, or the disk is full"
        case .tryAgain: "the server is busy or stopping; try again"
        case .noPermission: "the token is missing, wrong, or does not allow this"
        }
    }

    /// All statuses, a line each.
    static var table: String {
        allCases.map { status in
            let number = String(status.rawValue)
            return "  " + String(repeating: " ", count: 3 - number.count) + "\(number)  \(status.meaning)"
        }.joined(separator: "\n")
    }
}
