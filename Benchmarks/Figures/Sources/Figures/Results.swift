/// All figures measured so far, and the machine that they were measured on: the content of `docs/performance.txt`.
///
/// The text is a line `# name: value` for each fact about the machine and the peers, and each figure's line.
public struct Results: Hashable, Sendable {
    /// A fact about the measurement, such as the processor or a peer's version.
    public struct Fact: Hashable, Sendable {
        /// The fact's name, unique among the facts.
        public var name: String
        /// The fact, in words.
        public var value: String

        /// Makes a fact.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// In the order in which they are shown.
    public var facts: [Fact] = []
    /// In the order in which they were first measured.
    public var figures: [Figure] = []

    /// Nothing measured yet.
    public init() {}

    /// Parses a text; lines that are neither fact nor figure are ignored.
    public init(text: String) {
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# ") {
                guard let colon = line.firstRange(of: ": ") else { continue }
                facts.append(Fact(String(line[..<colon.lowerBound].dropFirst(2)), String(line[colon.upperBound...])))
            } else if let figure = Figure(line: line) {
                figures.append(figure)
            }
        }
    }

    /// The lines, each with its end.
    public var text: String { (facts.map { "# \($0.name): \($0.value)" } + figures.map(\.line)).joined(separator: "\n") + "\n" }

    /// The figure of that name, if it was measured.
    public subscript(name: String) -> Figure? { figures.first { $0.name == name } }

    /// Merges a new measurement: figures and facts of the same name are replaced in place, others stay, new ones are
    /// appended.
    ///
    /// - Parameter families: prefixes of the figures' names that were measured again. Figures with such a prefix that
    ///   are not in `newer` are removed, since they belong to an earlier kind of measurement.
    public mutating func merge(_ newer: Results, replacing families: [String] = []) {
        figures.removeAll { figure in
            families.contains { figure.name.hasPrefix($0) } && newer[figure.name] == nil
        }
        for figure in newer.figures {
            if let index = figures.firstIndex(where: { $0.name == figure.name }) { figures[index] = figure } else { figures.append(figure) }
        }
        for fact in newer.facts {
            if let index = facts.firstIndex(where: { $0.name == fact.name }) { facts[index] = fact } else { facts.append(fact) }
        }
    }
}
