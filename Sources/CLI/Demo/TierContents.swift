import FreshetWire

/// The records that one tier of a cache holds, or the server; the demo compares tiers.
struct TierContents: Hashable, Sendable {
    /// A record as it is held.
    struct Entry: Hashable, Sendable {
        let revision: Int64
        let value: [UInt8]
    }

    var entries: [RecordKey: Entry] = [:]

    init() {}

    init(_ records: [Record]) {
        for record in records { entries[record.key] = Entry(revision: record.revision.number, value: record.content?.bytes ?? []) }
    }

    /// Describes in words how many records there are, and which differ from those of `truth`.
    func description(against truth: TierContents) -> String {
        var differences: [String] = []
        for key in Set(entries.keys).union(truth.entries.keys).sorted() {
            switch (entries[key], truth.entries[key]) {
            case (let held?, let true_?) where held != true_:
                differences.append("\(key): \(Self.text(held)) instead of \(Self.text(true_))")
            case (let held?, nil): differences.append("\(key): \(Self.text(held)), which the server does not have")
            case (nil, let true_?): differences.append("\(key) is missing, at the server \(Self.text(true_))")
            default: break
            }
        }
        guard !differences.isEmpty else { return "\(grouped(entries.count)) as the server" }
        let more = differences.count > 3 ? " and \(grouped(differences.count - 3)) more differences" : ""
        return "\(grouped(entries.count)), where \(differences.prefix(3).joined(separator: "; "))\(more)"
    }

    private static func text(_ entry: Entry) -> String {
        "\(String(decoding: entry.value.prefix(60), as: UTF8.self)) at revision \(entry.revision)"
    }
}
