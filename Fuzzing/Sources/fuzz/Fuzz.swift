import Glibc

/// The fuzzer's own loop, of the runtime that comes with the compiler.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The chosen target. It is set once, before the fuzzer starts.
nonisolated(unsafe) private var chosen: (([UInt8]) -> Void) = { _ in }

/// `fuzz TARGET [OPTIONS AND CORPORA OF LIBFUZZER]`
@main enum Fuzz {
    static func main() {
        guard CommandLine.arguments.count > 1, let target = Target(rawValue: CommandLine.arguments[1]) else {
            print(Target.allCases.map(\.rawValue).joined(separator: "\n"))
            exit(CommandLine.arguments.count > 1 ? 64 : 0)
        }
        chosen = target.test
        // The fuzzer reads only its own options.
        var arguments = CommandLine.unsafeArgv.advanced(by: 1)
        arguments[0] = CommandLine.unsafeArgv[0]
        var count = CommandLine.argc - 1
        exit(
            runDriver(&count, &arguments) { bytes, count in
                chosen(Array(UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            })
    }
}

enum Target: String, CaseIterable {
    case request, chunked, json
    case mergePatch = "merge-patch"
    case increment, cursor, path, problem, changes
    case token, jwks, grants, configuration

    /// The function that tests an input. It ends the process if a rule is broken.
    var test: ([UInt8]) -> Void {
        switch self {
        case .request: Requests.parse
        case .chunked: Requests.parseChunks
        case .path: Requests.parsePath
        case .json: Documents.read
        case .mergePatch: Documents.merge
        case .increment: Documents.increment
        case .cursor: Messages.readCursor
        case .problem: Messages.readProblem
        case .changes: Messages.readChanges
        case .token: Trust.readToken
        case .jwks: Trust.readKeys
        case .grants: Trust.readGrants
        case .configuration: Trust.readConfiguration
        }
    }
}

/// Ends the process if `holds` is false: the fuzzer keeps the input.
func require(_ holds: Bool, _ rule: @autoclosure () -> String) {
    if !holds { fatalError(rule()) }
}
