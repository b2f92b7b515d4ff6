/// One figure: ours, a peer's if there is one, and the ratio of the two. Its text is the line that the program prints.
public struct Figure: Hashable, Sendable {
    /// `<what>` or `<what>-vs-<peer>`, without spaces.
    public var name: String
    /// Ours, in the unit that `Meaning` gives.
    public var ours: Double
    /// The peer's, in the same unit; `nil` without a peer.
    public var peer: Double?
    /// Ours divided by the peer's.
    public var ratio: Double?
    /// The day of the measurement, such as `2026-01-31`; kept in the file only.
    public var date: String?

    /// A figure as it is.
    public init(_ name: String, ours: Double, peer: Double? = nil, ratio: Double? = nil, date: String? = nil) {
        self.name = name
        self.ours = ours
        self.peer = peer
        self.ratio = ratio
        self.date = date
    }

    /// The medians of rounds that measured ours and the peer's in turn. The ratio is the median of the rounds' ratios,
    /// so that other load on the machine in one round affects both sides of it.
    ///
    /// `nil` without a round of ours. A peer that was not measured in each round is left out.
    public init?(_ name: String, ours: [Double], peer: [Double] = []) {
        guard let median = Statistics.median(ours) else { return nil }
        self.init(name, ours: median)
        guard peer.count == ours.count else { return }
        self.peer = Statistics.median(peer)
        ratio = Statistics.median(zip(ours, peer).compactMap { $1 > 0 ? $0 / $1 : nil })
    }

    /// Parses a line that `line` wrote; `nil` for any other line. A value that is not a number counts as left out.
    public init?(line: some StringProtocol) {
        let words = String(line).split(separator: " ")
        guard let name = words.first else { return nil }
        var fields: [Substring: Substring] = [:]
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            fields[parts[0]] = parts[1]
        }
        guard let ours = fields["ours"].flatMap({ Double($0) }) else { return nil }
        self.init(
            String(name), ours: ours, peer: fields["peer"].flatMap { Double($0) }, ratio: fields["ratio"].flatMap { Double($0) },
            date: fields["date"].map { String($0) })
    }

    /// `name ours=… peer=… ratio=…`, and the date if it has one.
    public var line: String {
        var text = "\(name) ours=\(Digits.text(ours))"
        if let peer { text += " peer=\(Digits.text(peer))" }
        if let ratio { text += " ratio=\(Digits.text(ratio))" }
        if let date { text += " date=\(date)" }
        return text
    }
}

/// Numbers in a readable form.
public enum Digits {
    /// Three significant digits after the point's left is full: `81234`, `12.3`, `1.23`, `0.123`, `0.0123`.
    public static func text(_ value: Double) -> String {
        guard value.isFinite else { return "\(value)" }
        let size = value.magnitude
        let digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 || size == 0 ? 3 : 4
        return fixed(value, digits)
    }

    /// The same, with commas between thousands; zero is `0`.
    public static func grouped(_ value: Double) -> String { value == 0 ? "0" : grouped(text(value)) }

    /// A whole number, with commas between thousands.
    public static func count(_ value: Int) -> String { grouped("\(value)") }

    private static func grouped(_ text: String) -> String {
        guard text.allSatisfy({ $0.isNumber || $0 == "-" }) else { return text }
        var groups: [Substring] = []
        var rest = text[...]
        while rest.count > 3, rest.last?.isNumber == true {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return ([rest] + groups).joined(separator: ",")
    }

    private static func fixed(_ value: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (value.magnitude * scale).rounded()
        guard scaled < 9e15 else { return "\(value)" }
        let whole = Int64(scaled)
        let sign = value < 0 && whole != 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let unit = Int64(scale)
        return "\(sign)\(whole / unit).\(String(unit + whole % unit).dropFirst())"
    }
}
