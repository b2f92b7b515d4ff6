/// A picture in SVG: shapes in order, in a square of units whose origin is above on the left.
struct Drawing {
    let width: Double
    let height: Double
    private var shapes: [String] = []

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    enum Anchor: String { case start, middle, end }

    mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) {
        shapes.append("<line x1=\"\(x1.short)\" y1=\"\(y1.short)\" x2=\"\(x2.short)\" y2=\"\(y2.short)\" class=\"\(style)\"/>")
    }

    mutating func bar(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String) {
        shapes.append(
            "<rect x=\"\(x.short)\" y=\"\(y.short)\" width=\"\(max(width, 0.5).short)\" height=\"\(height.short)\" class=\"\(style)\"/>")
    }

    mutating func curve(_ points: [(x: Double, y: Double)], _ style: String) {
        let text = points.map { "\($0.x.short),\($0.y.short)" }.joined(separator: " ")
        shapes.append("<polyline points=\"\(text)\" class=\"\(style)\"/>")
        for point in points { shapes.append("<circle cx=\"\(point.x.short)\" cy=\"\(point.y.short)\" r=\"3\" class=\"\(style)-point\"/>") }
    }

    mutating func text(_ words: String, _ x: Double, _ y: Double, _ anchor: Anchor = .start, _ style: String = "label") {
        let safe = words.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        shapes.append("<text x=\"\(x.short)\" y=\"\(y.short)\" text-anchor=\"\(anchor.rawValue)\" class=\"\(style)\">\(safe)</text>")
    }

    /// Colours that are distinguishable on white and on black pages.
    var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width.short) \(height.short)" font-family="sans-serif">
        <style>
        .label{font-size:12px;fill:#24292f}.small{font-size:10px;fill:#57606a}.title{font-size:14px;font-weight:bold;fill:#24292f}
        .axis{stroke:#57606a;stroke-width:1}.grid{stroke:#d0d7de;stroke-width:1}
        .better{fill:#2da44e}.worse{fill:#bf8700}
        .curve{fill:none;stroke:#0969da;stroke-width:2}.curve-point{fill:#0969da}
        </style>
        <rect width="\(width.short)" height="\(height.short)" fill="#ffffff"/>
        \(shapes.joined(separator: "\n"))
        </svg>

        """
    }
}

extension Double {
    /// One digit after the point at most.
    fileprivate var short: String {
        let tenths = Int((self * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}
