import FreshetWire

/// Prints a collection as lines that `import` reads, page by page.
///
/// Each page has the state of the moment when it was read. Changes made while other pages were read are in the feed
/// after ``Report/cursor``.
struct Exporter: Sendable {
    /// The result of an export.
    struct Report: Hashable, Sendable {
        var count = 0
        /// The position of the first page's state; `nil` until that page has arrived.
        var cursor: Cursor?
        /// The id that the latest whole page ends with; `nil` at the end.
        var last: String?
    }

    let pages: RecordPages

    /// - Parameters:
    ///   - write: takes the lines of one page.
    ///   - progress: called after each page with the number of records so far.
    /// - Throws: ``CommandFailure`` if the server cannot be reached for longer than the retries take (the message
    ///   states where to resume), or if the history of the namespace was replaced meanwhile.
    func run(write: ([UInt8]) -> Void, progress: (Int) -> Void) async throws(CommandFailure) -> Report {
        var report = Report()
        do throws(CommandFailure) {
            try await pages.forEachPage { page throws(CommandFailure) in
                let first = report.cursor ?? page.cursor
                guard page.cursor.epoch == first.epoch else {
                    report.last = nil
                    throw CommandFailure(
                        .data, "the namespace was deleted or restored during the export, which mixes two states: export it again")
                }
                write(page.lines())
                report.count += page.count
                report.cursor = first
                report.last = page.next
                progress(report.count)
            }
        } catch {
            guard let last = report.last else { throw error }
            throw CommandFailure(
                error.status,
                "\(error.message); \(counted(report.count, "record")) printed so far: the same command with --after \(last.quotedForShell) prints the others"
            )
        }
        return report
    }
}
