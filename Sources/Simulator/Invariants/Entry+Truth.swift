import FreshetClient
import FreshetWire

extension Entry {
    /// Whether the entry says what a version of the server's record is; without a revision there is no record.
    func isTrue(of content: Content?, at revision: Int64?) -> Bool {
        if lacksValue { return content != nil && revision == self.revision.number }
        return content == self.content && (content == nil || revision == self.revision.number)
    }

    /// As text, for the description of a violation.
    var valueText: String { lacksValue ? "a record without its value" : Replay.text(content) }
}
