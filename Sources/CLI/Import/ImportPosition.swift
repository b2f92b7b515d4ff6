/// Where in its file a record stands, for errors: `line 7`.
struct ImportPosition: Hashable, Sendable, CustomStringConvertible {
    let format: ImportFormat
    /// Counted from 1.
    let number: Int

    var description: String { "\(format.unit) \(number)" }
}
