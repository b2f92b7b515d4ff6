/// The lines of an audit log that wait to be written, bounded: beyond, lines are counted and not kept.
package struct AuditQueue<Waiter: Sendable>: Sendable {
    /// The most lines that wait.
    package static var maximumCount: Int { 4_096 }

    /// A line, and what waits for it to be written.
    package struct Line: Sendable {
        package let record: AuditRecord
        package let waiter: Waiter?
    }

    private var lines: [Line] = []
    private var isWriting = false
    /// The lines that were not written since the last one that was.
    package private(set) var lost = 0
    /// The lines that were not written, and those that were, since the start.
    package private(set) var lostInAll = 0
    package private(set) var written = 0

    package init() {}

    /// What to do after a line was added.
    package enum Admission: Equatable, Sendable {
        /// Start the writer.
        case start
        /// The writer is at work, and takes the line.
        case wait
        /// The line is not kept.
        case lose
    }

    package mutating func add(_ record: AuditRecord, _ waiter: Waiter? = nil) -> Admission {
        guard lines.count < Self.maximumCount else {
            lose(1)
            return .lose
        }
        lines.append(Line(record: record, waiter: waiter))
        defer { isWriting = true }
        return isWriting ? .wait : .start
    }

    /// The lines that the writer writes next; empty if there are none, and then the writer ends.
    package mutating func take() -> [Line] {
        defer { lines = [] }
        isWriting = !lines.isEmpty
        return lines
    }

    /// Notes lines that could not be written.
    package mutating func lose(_ count: Int) {
        lost += count
        lostInAll += count
    }

    /// Notes that lines were written, the record of lost ones before them.
    package mutating func wrote(_ count: Int, lostBefore: Int) {
        written += count
        lost -= lostBefore
    }

    /// The record of the lines that were lost; `nil` if there are none.
    package func lossRecord(at time: Int64) -> AuditRecord? {
        guard lost > 0 else { return nil }
        var record = AuditRecord(.linesLost, time: time)
        record.detail = "lines before this one could not be written"
        record.count = lost
        return record
    }
}
