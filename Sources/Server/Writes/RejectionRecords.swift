package import FreshetWire

/// Reads the records that rejections show. The transaction that rejects leaves their values out, since all writers wait for it.
package enum RejectionRecords {
    /// Of one answer: values of at most 64 KiB each and 1 MiB together. Beyond, and where several writes of a batch show the same record, the
    /// record comes without its value.
    package static let bounds = ReadBounds(bytes: 1 << 20, valueBytes: 64 << 10, coversAll: true)

    /// A batch's outcomes with the values of the records that they show, and the position and the number of the state in which they were read.
    ///
    /// The outcomes are as they were where the namespace has begun another history since: its revisions say nothing here.
    package static func read(
        _ committed: Committed<[WriteOutcome]>, of client: ClientIdentifier?, in namespace: Namespace, from store: any RecordStore,
        within bounds: ReadBounds = bounds
    ) throws(StoreError) -> Committed<[WriteOutcome]> {
        guard case .success(var outcomes) = committed.result, outcomes.contains(where: \.showsOutline) else { return committed }
        let items = outcomes.compactMap(\.shown).map { ReadsRequest.Item(key: $0.key) }
        let snapshot = try store.records(ReadsRequest(items: items, client: client), within: bounds, in: namespace)
        guard snapshot.cursor.epoch == committed.cursor?.epoch else { return committed }
        var records = Dictionary(snapshot.value.records.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for place in outcomes.indices {
            guard let key = outcomes[place].shown?.key else { continue }
            outcomes[place].show(records[key])
            // One time with its value is enough.
            records[key] = records[key]?.outline
        }
        return Committed(.success(outcomes), snapshot.cursor, lastWrite: committed.lastWrite == nil ? nil : snapshot.lastWrite)
    }

    /// The problem of a single write with the value of the record that it shows, and the position at which it was read.
    package static func read(
        _ problem: Problem, at cursor: Cursor?, in namespace: Namespace, from store: any RecordStore, within bounds: ReadBounds = bounds
    ) throws(StoreError) -> (problem: Problem, cursor: Cursor?) {
        let outcome = WriteOutcome(number: 0, verdict: .rejected(problem))
        let committed = try read(Committed(.success([outcome]), cursor), of: nil, in: namespace, from: store, within: bounds)
        guard case .rejected(let problem)? = try? committed.result.get().first?.verdict else { return (problem, cursor) }
        return (problem, committed.cursor)
    }
}

extension WriteOutcome {
    /// The record that it shows, if it shows one.
    fileprivate var shown: Record? {
        guard case .rejected(let problem) = verdict else { return nil }
        return problem.current
    }

    /// Whether it shows a record whose value may be read.
    package var showsOutline: Bool { shown.map { $0.content == nil } ?? false }

    /// - Parameter record: as it is now; `nil` where there is none any more.
    fileprivate mutating func show(_ record: Record?) {
        guard case .rejected(var problem) = verdict else { return }
        problem.current = record
        verdict = .rejected(problem)
    }
}
