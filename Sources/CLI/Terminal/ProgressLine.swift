/// Draws how far a command is on standard error where a person looks; prints nothing elsewhere.
struct ProgressLine: Sendable {
    private let bar: ProgressBar
    private let isOn: Bool
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - total: `nil` where it is not known.
    ///   - isOn: `false` where something else is printed to the terminal meanwhile.
    init(unit: String, total: Int?, isOn: Bool) {
        bar = ProgressBar(unit: unit, total: total)
        self.isOn = isOn && StandardStream.error.isTerminal
    }

    /// Draws the line over the one before it.
    func draw(_ done: Int) {
        if isOn { bar.draw(done: done, seconds: (ContinuousClock.now - start) / .seconds(1)) }
    }

    /// Removes the line.
    func end() {
        if isOn { StandardStream.error.write(Array("\r\u{1B}[K".utf8)) }
    }
}
