extension JSONReader {
    /// A revision: a whole number within 0 … 2^53−1.
    mutating func revision() throws(WireError) -> Revision {
        let number = try integer()
        guard let revision = Revision(number) else { throw .unexpectedJSON("\(number) is no revision: it takes 0 to 2^53-1") }
        return revision
    }

    /// A cursor that is a position, neither `0` nor `now`.
    mutating func cursor() throws(WireError) -> Cursor { try Cursor(try string()) }

    /// An array of anything, element by element.
    /// - Parameters:
    ///   - limit: the most elements. They are counted while they are read, so that a longer array costs no more memory than this one.
    ///   - what: what they are, in the plural, for the error.
    /// - Throws: ``WireError/tooMany(_:limit:)`` at the first element beyond the limit.
    mutating func elements<Element>(
        atMost limit: Int = .max, _ what: String = "elements", _ read: (inout JSONReader) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        var elements: [Element] = []
        try beginArray()
        while try nextElement() {
            guard elements.count < limit else { throw .tooMany(what, limit: limit) }
            elements.append(try read(&self))
        }
        return elements
    }
}
