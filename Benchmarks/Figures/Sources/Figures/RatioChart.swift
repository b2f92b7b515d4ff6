import Glibc

/// Bars of ours divided by the peer's, on a scale of powers of two around 1.
public enum RatioChart {
    /// The picture; `nil` if no figure has a ratio.
    ///
    /// - Parameter comparisons: the comparisons to show, in that order.
    public static func svg(_ results: Results, comparisons: [String]) -> String? {
        let figures = results.figures.map { (figure: $0, meaning: Meaning(of: $0.name)) }
        let rows = comparisons.flatMap { comparison in
            figures.compactMap { figure, meaning -> (label: String, ratio: Double, isBetter: Bool)? in
                guard meaning.comparison == comparison, let ratio = figure.ratio, ratio > 0, ratio.isFinite else { return nil }
                let isBetter = meaning.unit == "/s" ? ratio >= 1 : ratio <= 1
                return ("\(comparison): \(meaning.title), \(meaning.peer)".replacing("`", with: ""), ratio, isBetter)
            }
        }
        guard !rows.isEmpty else { return nil }
        let (left, right, top, step) = (470.0, 860.0, 56.0, 20.0)
        let exponents = rows.map { log2($0.ratio) }
        let low = min(-1, (exponents.min() ?? 0).rounded(.down))
        let high = max(1, (exponents.max() ?? 0).rounded(.up))
        let bottom = top + step * Double(rows.count)
        var drawing = Drawing(width: 900, height: bottom + 30)
        func place(_ exponent: Double) -> Double { left + (exponent - low) / (high - low) * (right - left) }
        drawing.text("Freshet divided by its peers", 16, 24, .start, "title")
        drawing.text("green: better than the peer (less time or memory, more a second)", 16, 42, .start, "small")
        for exponent in stride(from: low, through: high, by: 1) {
            drawing.line(place(exponent), top, place(exponent), bottom, exponent == 0 ? "axis" : "grid")
            drawing.text(Digits.text(exp2(exponent)), place(exponent), bottom + 16, .middle, "small")
        }
        for (index, row) in rows.enumerated() {
            let y = top + step * Double(index)
            let end = place(log2(row.ratio))
            drawing.text(row.label, left - 8, y + 14, .end, "small")
            drawing.bar(min(end, place(0)), y + 3, abs(end - place(0)), step - 6, row.isBetter ? "better" : "worse")
            drawing.text(Digits.text(row.ratio), row.ratio >= 1 ? end + 4 : end - 4, y + 14, row.ratio >= 1 ? .start : .end, "small")
        }
        return drawing.svg
    }
}
