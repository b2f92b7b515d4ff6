import FreshetWire

/// One record that is to be written.
struct ImportRecord: Hashable, Sendable {
    let key: RecordKey
    let content: Content
    let place: ImportPosition
}

/// The records of a file, one after another.
protocol ImportSource {
    /// The next record; `nil` after the last.
    /// - Throws: ``CommandFailure`` that names the place and the expected content.
    mutating func next() throws(CommandFailure) -> ImportRecord?
}
