/// The records of NDJSON: an object a line. Empty lines are passed over. One line is in memory at a time.
struct ImportLines: ImportSource {
    let input: ImportInput
    let rules: ImportRules

    mutating func next() throws(CommandFailure) -> ImportRecord? {
        while let line = try input.line() {
            guard line.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { continue }
            return try rules.record(line, at: ImportPosition(format: .ndjson, number: input.lineNumber))
        }
        return nil
    }
}
