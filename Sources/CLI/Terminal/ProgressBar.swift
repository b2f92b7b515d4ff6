/// How far a long task is, as one line that is drawn over itself.
struct ProgressBar: Sendable {
    /// What is counted, for example `records`.
    let unit: String
    let total: Int

    /// The line for `done` of `total` after `seconds`, at most `width` characters:
    /// `[#########-----------]  45%  3,560 of 7,910 records  12,300/s`
    func line(done: Int, seconds: Double, width: Int) -> String {
        let share = total == 0 ? 1 : Double(min(done, total)) / Double(total)
        let percent = String(Int(share * 100))
        var text = String(repeating: " ", count: 3 - percent.count) + "\(percent)%"
        text += "  \(grouped(done)) of \(grouped(total)) \(unit)"
        if seconds > 0, done > 0 { text += "  \(grouped(Int(Double(done) / seconds)))/s" }
        let room = min(30, width - text.count - 4)
        guard room >= 5 else { return String(text.prefix(width)) }
        let filled = Int(share * Double(room))
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: room - filled) + "] " + text
    }

    /// Draws the line over the one before it on standard error, with `note` at its end; ends it when all is done.
    func draw(done: Int, seconds: Double, note: String = "") {
        let line = line(done: done, seconds: seconds, width: StandardStream.error.width - 1 - note.count) + note
        StandardStream.error.write(Array("\r\u{1B}[K\(line)\(done == total ? "\n" : "")".utf8))
    }
}

/// A count with its thousands apart: `7,910`.
func grouped(_ number: Int) -> String {
    var groups: [String] = []
    var digits = String(number.magnitude)[...]
    while digits.count > 3 {
        groups.insert(String(digits.suffix(3)), at: 0)
        digits = digits.dropLast(3)
    }
    return (number < 0 ? "-" : "") + ([String(digits)] + groups).joined(separator: ",")
}
