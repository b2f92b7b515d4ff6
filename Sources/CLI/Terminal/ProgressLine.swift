/// Draws a command's progress on standard error if that is a terminal; prints nothing otherwise.
struct ProgressLine: Sendable {
    private let bar: ProgressBar
    private let isOn: Bool
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - total: `nil` if unknown.
    ///   - isOn: `false` if other output goes to the terminal meanwhile.
    init(unit: String, total: Int?, isOn: Bool) {
        bar = ProgressBar(unit: unit, total: total)
        self.isOn = isOn && StandardStream.error.isTerminal
    }

    /// Redraws the line.
    func draw(_ done: Int) {
        if isOn { bar.draw(done: done, seconds: (ContinuousClock.now - start) / .seconds(1)) }
    }

    /// Removes the line.
    func end() {
        if isOn { StandardStream.error.write(Array("\r\u{1B}[K".utf8)) }
    }
}
