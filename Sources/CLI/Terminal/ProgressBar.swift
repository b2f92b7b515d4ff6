/// The progress of a long task, as one line that is redrawn in place.
struct ProgressBar: Sendable {
    /// The counted things, for example `records`.
    let unit: String
    /// `nil` if the total is unknown: then only the number done is shown.
    let total: Int?

    /// The line for `done` of `total` after `seconds`, at most `width` characters:
    /// `[#########-----------]  45%  3,560 of 7,910 records  12,300/s`, or `3,560 records  12,300/s` without a total. Any numbers
    /// give a line: a server may have stated them.
    func line(done: Int, seconds: Double, width: Int) -> String {
        let rate = seconds > 0 && done > 0 ? "  \(grouped(Int(min(Double(done) / seconds, 1e15))))/s" : ""
        guard let total else { return String("\(grouped(done)) \(unit)\(rate)".prefix(max(0, width))) }
        let share = total > 0 ? Double(max(0, min(done, total))) / Double(total) : 1
        let percent = String(Int(share * 100))
        var text = String(repeating: " ", count: max(0, 3 - percent.count)) + "\(percent)%"
        text += "  \(grouped(done)) of \(grouped(total)) \(unit)\(rate)"
        let room = min(30, max(0, width) - text.count - 4)
        guard room >= 5 else { return String(text.prefix(max(0, width))) }
        let filled = Int(share * Double(room))
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: room - filled) + "] " + text
    }

    /// Redraws the line on standard error, with `note` at its end; ends the line when all is done.
    func draw(done: Int, seconds: Double, note: String = "") {
        let line = line(done: done, seconds: seconds, width: StandardStream.error.width - 1 - note.count) + note
        StandardStream.error.write(Array("\r\u{1B}[K\(line)\(done == total ? "\n" : "")".utf8))
    }
}

/// A count with its noun: `1 record`, `7,910 records`.
func counted(_ number: Int, _ noun: String) -> String { "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")" }

/// A count with thousands separators: `7,910`.
func grouped(_ number: Int) -> String {
    var groups: [String] = []
    var digits = String(number.magnitude)[...]
    while digits.count > 3 {
        groups.insert(String(digits.suffix(3)), at: 0)
        digits = digits.dropLast(3)
    }
    return (number < 0 ? "-" : "") + ([String(digits)] + groups).joined(separator: ",")
}
