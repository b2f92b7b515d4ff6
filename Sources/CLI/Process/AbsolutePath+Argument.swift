import FreshetPlatform

extension AbsolutePath {
    /// The path of an option, an argument or a file that a configuration names.
    ///
    /// - Parameter name: names it in an error; `nil` quotes it.
    init(argument path: String, named name: String? = nil) throws(CommandFailure) {
        do throws(AbsolutePath.Failure) { try self.init(path) } catch { throw CommandFailure(.usage, "\(name ?? "'\(path)'") \(error)") }
    }
}
