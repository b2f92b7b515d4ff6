package import FreshetWire

/// Reads the records that rejections show. The transaction that rejects leaves out their values, since all writers wait
/// for it.
package enum RejectionRecords {
    /// The bounds of one answer: values of at most 64 KiB each and 1 MiB together. Beyond, and if an earlier write of
    /// the batch shows the same record, the record comes without its value.
    package static let bounds = ReadBounds(bytes: 1 << 20, valueBytes: 64 << 10, coversAll: true)

    /// A batch's outcomes with the values of the records that they show, and the position and the number of the state
    /// in which those were read.
    ///
    /// The outcomes stay as they are if the namespace has begun another history since, whose revisions do not compare
    /// with theirs.
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
            // One copy of the value is enough.
            records[key] = records[key]?.outline
        }
        return Committed(.success(outcomes), snapshot.cursor, lastWrite: committed.lastWrite == nil ? nil : snapshot.lastWrite)
    }

    /// The problem of a single write with the value of the record that it shows, and the position at which the value
    /// was read.
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
    /// The record that the outcome shows, if any.
    fileprivate var shown: Record? {
        guard case .rejected(let problem) = verdict else { return nil }
        return problem.current
    }

    /// Whether the outcome shows a record whose value may be read.
    package var showsOutline: Bool { shown.map { $0.content == nil } ?? false }

    /// - Parameter record: the record as it is now; `nil` if it no longer exists.
    fileprivate mutating func show(_ record: Record?) {
        guard case .rejected(var problem) = verdict else { return }
        problem.current = record
        verdict = .rejected(problem)
    }
}
