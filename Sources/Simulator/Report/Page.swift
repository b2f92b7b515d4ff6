internal import CFreshetReport

/// The page that shows a timeline: one file with its style, its script and its data, which asks the network for nothing.
///
/// Its parts are the files of `Sources/CFreshetReport/page`, and the timeline as JSON; the script draws it all in the reader's browser.
enum Page {
    /// The whole document.
    static func bytes(of timeline: Timeline) -> [UInt8] {
        var page: [UInt8] = []
        for part in parts {
            switch part {
            case .text(let text): page += text.utf8
            case .place("title"): page += escaped(timeline.title).utf8
            case .place("style"): page += bytes(of: freshet_report_style())
            case .place("timeline"): page += embedded(timeline.json)
            case .place("script"): page += bytes(of: freshet_report_script())
            case .place(let name): page += "{{\(name)}}".utf8
            }
        }
        return page
    }

    /// A part of the page's frame.
    private enum Part {
        /// Text that is the same in each report.
        case text(Substring)
        /// A name in double braces, where something else goes.
        case place(Substring)
    }

    /// The frame, split once, so that braces in the style, the script or the timeline are not read as names.
    private static let parts: [Part] = {
        var parts: [Part] = []
        var rest = String(decoding: bytes(of: freshet_report_page()), as: UTF8.self)[...]
        while let opening = rest.firstRange(of: "{{"), let closing = rest[opening.upperBound...].firstRange(of: "}}") {
            parts.append(.text(rest[..<opening.lowerBound]))
            parts.append(.place(rest[opening.upperBound..<closing.lowerBound]))
            rest = rest[closing.upperBound...]
        }
        return parts + [.text(rest)]
    }()

    private static func bytes(of file: freshet_report_file) -> [UInt8] {
        Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    /// Text that HTML reads as itself.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// JSON that cannot contain the end of a script or comment: `<` occurs in strings only, where it is escaped.
    private static func embedded(_ json: [UInt8]) -> [UInt8] {
        var safe: [UInt8] = []
        safe.reserveCapacity(json.count + 64)
        for byte in json {
            if byte == UInt8(ascii: "<") { safe.append(contentsOf: "\\u003c".utf8) } else { safe.append(byte) }
        }
        return safe
    }
}

extension Timeline {
    /// A page to look at in a browser: one HTML document in UTF-8 that needs nothing else. O(n) in the number of events.
    public func page() -> [UInt8] { Page.bytes(of: self) }
}
