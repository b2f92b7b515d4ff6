/// A negative number in the place of a value, which the argument parser takes for an option.
enum NegativeNumber {
    /// How to give the number as a value; `nil` if the parser's message is not about a number.
    /// - Parameters:
    ///   - message: the message for the arguments.
    ///   - arguments: those after the program's name.
    static func hint(for message: String, _ arguments: some Sequence<String>) -> String? {
        let options = arguments.prefix { $0 != "--" }
        let number = options.first { $0.hasPrefix("-") && Double($0) != nil && message.contains("Unknown option '\($0)'") }
        return number.map { "A value that begins with '-' goes after '--', and all options before: freshet put counters/1 -- \($0)" }
    }
}
