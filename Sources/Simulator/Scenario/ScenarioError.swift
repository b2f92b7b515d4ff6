/// What can be wrong with a scenario or with what is asked of the simulator.
public enum ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text or a value in it is not what a scenario takes; the message says what would be right, the line counts from 1.
    case invalid(line: Int?, String)

    /// For people.
    public var description: String {
        switch self {
        case .invalid(let line, let text): (line.map { "line \($0): " } ?? "") + text
        }
    }
}
