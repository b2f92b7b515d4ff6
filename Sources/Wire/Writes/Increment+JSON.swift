extension Increment {
    /// `"path":…,"by":…,"onMissing"?:"reject","value"?:…,"min"?:…,"max"?:…`, as members of a write.
    func write(to writer: inout JSONWriter) {
        writer.member("path", path.description)
        writer.number("by", amount)
        switch onMissing {
        case .reject: writer.member("onMissing", word: "reject")
        case .create(nil): break
        case .create(let initial?):
            writer.member("value")
            writer.raw(initial)
        }
        if let minimum { writer.number("min", minimum) }
        if let maximum { writer.number("max", maximum) }
    }
}

/// The members of a write that only an increment takes, as they come.
struct IncrementMembers {
    private var path: JSONPointer?
    private var amount: JSONNumber?
    private var rejectsMissing = false
    private var minimum: JSONNumber?
    private var maximum: JSONNumber?

    mutating func read(_ name: JSONName, _ reader: inout JSONReader) throws(WireError) {
        switch name {
        case "path": path = try JSONPointer(try reader.string())
        case "by": amount = try Self.number("by", &reader)
        case "min": minimum = try reader.takeNull() ? nil : try Self.number("min", &reader)
        case "max": maximum = try reader.takeNull() ? nil : try Self.number("max", &reader)
        default:
            let word = try reader.word()
            guard word == "reject" || word == "create" else {
                throw .unexpectedJSON("'onMissing' takes reject or create, not '\(word.text.shortened)'")
            }
            rejectsMissing = word == "reject"
        }
    }

    private static func number(_ name: String, _ reader: inout JSONReader) throws(WireError) -> JSONNumber {
        let literal = try reader.number()
        guard let number = JSONNumber(literal: literal) else {
            throw .unexpectedJSON(
                "'\(name)' is \(literal.shortened), which is beyond the range of numbers: whole ones go from -2^63 to 2^63-1")
        }
        return number
    }

    /// - Parameter initial: the write's `value`, from which a missing record begins.
    func increment(_ number: Int64, _ initial: Content?) throws(WireError) -> Increment {
        guard let path, let amount else { throw .unexpectedJSON("write \(number) is an increment and takes 'path' and 'by'") }
        guard initial?.isJSON ?? true else {
            throw .unexpectedJSON("write \(number) is an increment: a record that it creates begins from a 'value', not a 'body'")
        }
        guard !rejectsMissing || initial == nil else {
            throw .unexpectedJSON("write \(number) takes 'value', to begin from, or 'onMissing' reject, not both")
        }
        let increment = Increment(
            path: path, by: amount, onMissing: rejectsMissing ? .reject : .create(from: initial?.bytes), minimum: minimum, maximum: maximum)
        guard !increment.hasCrossedBounds else {
            throw .unexpectedJSON("write \(number) has 'min' \(minimum?.description ?? "") above 'max' \(maximum?.description ?? "")")
        }
        return increment
    }
}

extension JSONWriter {
    fileprivate mutating func number(_ name: StaticString, _ number: JSONNumber) {
        member(name)
        raw(number.description.utf8)
    }
}
