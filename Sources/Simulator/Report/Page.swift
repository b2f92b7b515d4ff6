/// The page that shows a timeline: one file with its style, its script and its data, which asks the network for nothing.
///
/// The page is made of literals, each in a file by aspect, and of the timeline as JSON; the script draws it all in the reader's browser.
enum Page {
    /// The whole document.
    static func bytes(of timeline: Timeline) -> [UInt8] {
        var page = Array(head(title: timeline.title).utf8)
        page += Array(body.utf8)
        page += Array("<script type=\"application/json\" id=\"timeline\">".utf8)
        page += embedded(timeline.json)
        page += Array("</script>\n<script>\n\"use strict\";\n(function () {\n".utf8)
        page += Array(script.utf8)
        page += Array("})();\n</script>\n</body>\n</html>\n".utf8)
        return page
    }

    /// Nothing but what the page holds itself may run or be shown: the browser enforces it.
    private static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

    private static let script = [
        dataScript, wordScript, scaleScript, chartScript, laneScript, messageScript, markScript, overviewScript, stateScript, eventScript,
        pointerScript, themeScript, controlScript,
    ].joined(separator: "\n")

    private static func head(title: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(policy)">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(escaped(title)) – Freshet</title>
        <style>
        \(style)
        </style>
        </head>

        """
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
