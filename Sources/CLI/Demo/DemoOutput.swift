/// The demo's output: numbered steps, facts with measured times, and checks that hold or fail.
struct DemoOutput: Sendable {
    let style: Style
    let print: @Sendable (String) -> Void
    private var step = 0
    /// The number of checks made.
    private(set) var checks = 0
    /// The checks that failed.
    private(set) var failures: [String] = []

    init(style: Style, print: @escaping @Sendable (String) -> Void) {
        self.style = style
        self.print = print
    }

    /// Begins a step.
    mutating func begin(_ title: String) {
        step += 1
        print("")
        print(style.bold("\(step). \(title)"))
    }

    /// Prints a fact.
    func report(_ text: String) { print("   \(text)") }

    /// Prints whether the observed value equals the expected one, and both if not.
    mutating func check(_ claim: String, expected: String, seen: String) {
        checks += 1
        if expected == seen {
            print("   \(style.green("ok")) \(claim)")
        } else {
            failures.append("step \(step): \(claim)")
            print("   \(style.red("FAILED")) \(claim)")
            print("      expected: \(expected)")
            print("      seen:     \(seen)")
        }
    }
}

extension Duration {
    /// `0.8 ms`, `63 ms`, `1.24 s`
    var text: String {
        let milliseconds = self / .milliseconds(1)
        if milliseconds >= 1_000 { return "\(Self.decimal(milliseconds / 1_000, places: 2)) s" }
        return "\(Self.decimal(milliseconds, places: milliseconds < 10 ? 1 : 0)) ms"
    }

    private static func decimal(_ value: Double, places: Int) -> String {
        guard places > 0 else { return String(Int(value.rounded())) }
        let scale = places == 1 ? 10.0 : 100.0
        let whole = Int((value * scale).rounded())
        let fraction = String(whole % Int(scale))
        return "\(whole / Int(scale)).\(String(repeating: "0", count: places - fraction.count))\(fraction)"
    }
}
