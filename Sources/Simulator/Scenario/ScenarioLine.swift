import FreshetWire

/// One line of a scenario's text, taken apart from the left.
struct ScenarioLine {
    /// A word, and how it was written.
    struct Word {
        var text: String
        /// It stood in quotes, so it is a name and no word of the language.
        var isQuoted = false
        /// A star followed the closing quote, or ends the bare word.
        var hasStar = false
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: some Sequence<UInt8>) {
        var bytes = Array(bytes)
        if bytes.last == 0x0D { bytes.removeLast() }
        self.bytes = bytes
    }

    /// The line as an error quotes it.
    var excerpt: String {
        let text = String(decoding: bytes, as: UTF8.self).drop { $0 == " " || $0 == "\t" }
        return text.count > 100 ? "\(text.prefix(99))…" : String(text)
    }

    /// Nothing more comes but perhaps a comment.
    var isAtEnd: Bool {
        mutating get {
            while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
            return position == bytes.count || bytes[position] == UInt8(ascii: "#")
        }
    }

    // MARK: Words

    /// The next word, bare or in quotes; `nil` at the end.
    mutating func word() throws(ScenarioError) -> Word? {
        guard !isAtEnd else { return nil }
        if bytes[position] == UInt8(ascii: "\"") {
            let text = try json { reader throws(WireError) in try reader.string() }
            let hasStar = position < bytes.count && bytes[position] == UInt8(ascii: "*")
            if hasStar { position += 1 }
            try checkGap()
            return Word(text: text, isQuoted: true, hasStar: hasStar)
        }
        let rest = bytes[position...].prefix { $0 != 0x20 && $0 != 0x09 }
        position += rest.count
        return Word(text: String(decoding: rest, as: UTF8.self), hasStar: rest.last == UInt8(ascii: "*"))
    }

    /// The next word, which is not taken.
    func peek() -> String? {
        var copy = self
        guard let word = (try? copy.word()).flatMap({ $0 }), !word.isQuoted else { return nil }
        return word.text
    }

    /// Takes these bare words if they come next.
    mutating func take(_ words: String...) -> Bool {
        var copy = self
        for word in words {
            guard copy.peek() == word, (try? copy.word()) != nil else { return false }
        }
        self = copy
        return true
    }

    /// Takes the next word, which must exist.
    /// - Parameter rule: the words that may follow here, for people.
    mutating func word(_ rule: String) throws(ScenarioError) -> Word {
        guard let word = try word() else { throw .invalid(line: nil, "the line ends too soon: \(rule)") }
        return word
    }

    /// One of several bare words.
    mutating func choice<Choice>(_ choices: [(word: String, meaning: Choice)], _ rule: String) throws(ScenarioError) -> Choice {
        let found = try word(rule)
        if !found.isQuoted, let choice = choices.first(where: { $0.word == found.text }) { return choice.meaning }
        let hint = Vocabulary.nearest(to: found.text, in: choices.map(\.word)).map { "; did you mean '\($0)'?" } ?? ""
        throw .invalid(line: nil, "'\(found.text)' does not fit here: \(rule)\(hint)")
    }

    /// Nothing may follow.
    /// - Parameter rule: what the whole statement is, for people.
    mutating func end(_ rule: String) throws(ScenarioError) {
        if let word = try word() { throw .invalid(line: nil, "'\(word.text)' is too much: \(rule)") }
    }

    // MARK: Values

    /// The next JSON value as it is.
    mutating func json() throws(ScenarioError) -> [UInt8] {
        let value = try json { reader throws(WireError) in try reader.rawValue() }
        try checkGap()
        return value
    }

    private mutating func json<Value>(_ read: (inout JSONReader) throws(WireError) -> Value) throws(ScenarioError) -> Value {
        var reader = JSONReader(bytes, from: position)
        do throws(WireError) {
            let value = try read(&reader)
            position = reader.position
            return value
        } catch {
            guard case .invalidJSON(let offset, let reason) = error else { throw .invalid(line: nil, error.description) }
            throw .invalid(line: nil, "no JSON at column \(column(offset)): \(reason)")
        }
    }

    private func column(_ place: Int) -> Int { String(decoding: bytes.prefix(place), as: UTF8.self).count + 1 }

    private func checkGap() throws(ScenarioError) {
        guard position < bytes.count, bytes[position] != 0x20, bytes[position] != 0x09 else { return }
        throw .invalid(line: nil, "a space is missing at column \(column(position))")
    }
}
