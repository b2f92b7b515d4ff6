/// The encoding of the program's arguments. Swift replaces bytes that are not UTF-8 by U+FFFD, so that two keys would become one.
enum ArgumentEncoding {
    /// Why the arguments cannot be taken; `nil` if all are UTF-8.
    /// - Parameter arguments: those after the program's name, each with a zero at its end.
    static func failure(in arguments: some Sequence<UnsafeMutablePointer<CChar>>) -> CommandFailure? {
        for (index, argument) in arguments.enumerated() where String(validatingCString: argument) == nil {
            return CommandFailure(.usage, "argument \(index + 1) is not UTF-8")
        }
        return nil
    }

    /// As ``failure(in:)``, for the arguments of this process.
    static func failureOfProcess() -> CommandFailure? {
        failure(in: UnsafeMutableBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst().compactMap { $0 })
    }
}
