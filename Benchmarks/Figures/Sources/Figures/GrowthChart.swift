import Glibc

/// Curves of the growth figures: a panel for each measured quantity, over a scale of powers of ten.
public enum GrowthChart {
    /// The picture; `nil` if there is nothing to draw.
    public static func svg(_ results: Results) -> String? {
        let panels = [("records", "records"), ("waiters", "waiting clients")].flatMap { family, axis in
            [("writes-per-s", "PUTs a second"), ("feed-ms", "feed latency, ms"), ("memory-mib", "memory, MiB")].map { what, title in
                (title: "\(title), by \(axis)", points: points(results, "growth-\(family)-", "-\(what)"))
            }
        }
        guard panels.contains(where: { !$0.points.isEmpty }) else { return nil }
        var drawing = Drawing(width: 960, height: 480)
        for (index, panel) in panels.enumerated() where !panel.points.isEmpty {
            draw(panel.title, panel.points, left: 60 + Double(index % 3) * 315, top: 40 + Double(index / 3) * 235, into: &drawing)
        }
        return drawing.svg
    }

    private static func points(_ results: Results, _ prefix: String, _ suffix: String) -> [(count: Double, value: Double)] {
        results.figures.compactMap { figure -> (count: Double, value: Double)? in
            guard figure.name.hasPrefix(prefix), figure.name.hasSuffix(suffix) else { return nil }
            return Double(figure.name.dropFirst(prefix.count).dropLast(suffix.count)).map { (max($0, 1), figure.ours) }
        }.sorted { $0.count < $1.count }
    }

    private static func draw(
        _ title: String, _ points: [(count: Double, value: Double)], left: Double, top: Double, into drawing: inout Drawing
    ) {
        let (width, height) = (235.0, 160.0)
        let low = log10(points[0].count).rounded(.down)
        let high = max(low + 1, log10(points[points.count - 1].count).rounded(.up))
        let most = ceiling(points.map(\.value).max() ?? 1)
        func x(_ count: Double) -> Double { left + (log10(count) - low) / (high - low) * width }
        func y(_ value: Double) -> Double { top + height - value / most * height }
        drawing.text(title, left, top - 12, .start, "label")
        for part in 0...2 {
            let value = most * Double(part) / 2
            drawing.line(left, y(value), left + width, y(value), part == 0 ? "axis" : "grid")
            drawing.text(Digits.grouped(value), left - 6, y(value) + 4, .end, "small")
        }
        for exponent in stride(from: low, through: high, by: 1) {
            drawing.line(x(exp10(exponent)), top + height, x(exp10(exponent)), top + height + 4, "axis")
            drawing.text(Digits.count(Int(exp10(exponent))), x(exp10(exponent)), top + height + 18, .middle, "small")
        }
        drawing.curve(points.map { (x($0.count), y($0.value)) }, "curve")
    }

    /// The least of 1, 2, 4, 6, 8 or 10 times a power of ten that is not below the value.
    private static func ceiling(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return 1 }
        let power = exp10(log10(value).rounded(.down))
        return ([1, 2, 4, 6, 8].first { $0 * power >= value } ?? 10) * power
    }

    private static func exp10(_ exponent: Double) -> Double { pow(10, exponent) }
}
