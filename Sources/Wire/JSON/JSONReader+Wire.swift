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
    mutating func elements<Element>(
        _ read: (inout JSONReader) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        var elements: [Element] = []
        try beginArray()
        while try nextElement() { elements.append(try read(&self)) }
        return elements
    }
}
