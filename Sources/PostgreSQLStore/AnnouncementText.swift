#if PostgreSQL
internal import FreshetServer
internal import FreshetWire

/// Messages between servers as the texts of notifications: a line about the message, and one for each head.
///
/// A message that is too long for one text is sent in parts, each of which is a message of the same number.
enum AnnouncementText {
    /// The most bytes of a text. PostgreSQL refuses 8,000 and more.
    static let longest = 7_900
    private static let format = "1"
    private static let absent = "-"

    /// The texts of a message, at least one.
    static func texts(of message: HeadMessage) -> [String] {
        let access = message.access.map { "\($0.history).\($0.number)" } ?? absent
        let first = "\(format) \(message.sender) \(message.number) \(message.isPartial ? 1 : 0) \(access)"
        var texts: [String] = []
        var text = first
        for head in message.heads {
            let line = "\n\(head.namespace) \(head.position)"
            if text.utf8.count + line.utf8.count > longest {
                texts.append(text)
                text = first
            }
            text += line
        }
        return texts + [text]
    }

    /// The message of a text; `nil` for any other text, since other programs may use the channel.
    static func message(_ text: String) -> HeadMessage? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, words[0] == format, let sender = UInt64(words[1]), let number = Int64(words[2]), number > 0,
            words[3] == "0" || words[3] == "1"
        else { return nil }
        var message = HeadMessage(sender: sender, number: number, heads: [], isPartial: words[3] == "1")
        if words[4] != absent {
            guard let access = version(words[4]) else { return nil }
            message.access = access
        }
        for line in lines.dropFirst() {
            guard let head = head(line) else { return nil }
            message.heads.append(head)
        }
        return message
    }

    private static func version(_ text: Substring) -> AccessVersion? {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 2, let history = numbers[0], let number = numbers[1] else { return nil }
        return AccessVersion(history: history, number: number)
    }

    private static func head(_ line: Substring) -> HeadMessage.Head? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let namespace = try? Namespace(String(words[0])), let position = try? Cursor(String(words[1])) else {
            return nil
        }
        return HeadMessage.Head(namespace, position)
    }
}
#endif
