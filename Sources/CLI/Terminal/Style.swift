/// Colours for a terminal, and none elsewhere.
struct Style: Sendable {
    let isOn: Bool

    /// On for a terminal, unless `NO_COLOR` is set to anything (https://no-color.org) or the terminal supports no
    /// colours.
    init(for stream: StandardStream, environment: Environment = .current) {
        self.init(isTerminal: stream.isTerminal, environment: environment)
    }

    init(isTerminal: Bool, environment: Environment) {
        isOn = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    func yellow(_ text: String) -> String { wrap(text, "33") }

    private func wrap(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
