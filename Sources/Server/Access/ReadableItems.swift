package import FreshetTrust
package import FreshetWire

/// A request for many records, without those that its principal may not read.
package struct ReadableItems {
    /// The request for the readable records.
    package let request: ReadsRequest
    private let forbidden: [RecordKey]
    /// The place in the client's request of each readable item; `nil` if all are readable.
    private let places: [Int]?

    package init(_ request: ReadsRequest, _ rights: Rights, in namespace: Namespace) {
        let readable = rights.ranges(of: .read, in: namespace)
        let places = request.items.indices.filter { readable.contains(request.items[$0].key) }
        guard places.count < request.items.count else {
            (self.request, forbidden, self.places) = (request, [], nil)
            return
        }
        self.request = ReadsRequest(items: places.map { request.items[$0] }, client: request.client)
        var left = Set<RecordKey>()
        forbidden = request.items.map(\.key).filter { !readable.contains($0) && left.insert($0).inserted }
        self.places = places
    }

    /// - Parameter cursor: the snapshot's, as the principal gets it.
    package func response(_ snapshot: Snapshot<DifferingRecords>, at cursor: Cursor) -> ReadsResponse {
        let found = snapshot.value
        return ReadsResponse(
            records: found.records, missing: found.missing, forbidden: forbidden,
            next: found.next.map { next in places.map { $0[next] } ?? next }, cursor: cursor)
    }
}
