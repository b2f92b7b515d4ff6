/// An error in a scenario or in a request to the simulator.
public enum ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text or a value in it is invalid. The message says what would be right; the line counts from 1.
    case invalid(line: Int?, String)

    /// For people.
    public var description: String {
        switch self {
        case .invalid(let line, let text): (line.map { "line \($0): " } ?? "") + text
        }
    }
}
