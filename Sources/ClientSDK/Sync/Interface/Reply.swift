package import FreshetWire

/// The decoded response to a request.
package enum Reply: Hashable, Sendable {
    /// `200` of `changes`.
    case page(ChangePage)
    /// `204` of `changes`: nothing happened up to this position.
    case noChange(Cursor)
    /// `200` of `writes`.
    case results(WriteResults)
    /// `200` of `reads`.
    case reads(ReadsResponse)
    /// `200` of `records/{collection}`, without values.
    case list(RecordList)
    /// `200` of a record, always with its content, and the `Freshet-Cursor`.
    case record(Record, Cursor)
    /// `304` of a record.
    case notModified(Cursor)
    /// `404` of a record, with a `Freshet-Cursor`: there is none as of this position. (Without a cursor it is a `problem`.)
    case missing(Cursor)
    /// `200` of `clients/{client}`, and the `Freshet-Cursor`: the number counts in its history.
    case client(ClientStatus, Cursor)
    /// A problem document of the server, with the `Freshet-Cursor` and `Retry-After` (milliseconds) where there were
    /// any; or any `401`, since a proxy in front of the server may check the token. Other error responses are
    /// ``TransportFailure/intercepted(_:)``.
    indirect case problem(Problem, cursor: Cursor?, retryAfter: Int64?)
    /// The response has more bytes than the transport accepts, as the text explains: ask for less.
    case tooLarge(String)
    /// No complete response arrived.
    case failure(TransportFailure)
    /// A response that violates the protocol, as the text explains.
    case garbage(String)
}

extension Reply {
    /// The history of the response, where it states one.
    package var epoch: Epoch? { cursor?.epoch }

    /// The position that the response states, if it states one.
    private var cursor: Cursor? {
        switch self {
        case .page(let page): page.cursor
        case .noChange(let cursor), .record(_, let cursor), .notModified(let cursor), .missing(let cursor), .client(_, let cursor): cursor
        case .results(let results): results.cursor
        case .reads(let reads): reads.cursor
        case .list(let list): list.cursor
        case .problem(_, let cursor, _): cursor
        case .tooLarge, .failure, .garbage: nil
        }
    }

    /// The response without the records that rejected writes met.
    var withoutCurrentRecords: Reply {
        guard case .results(var results) = self else { return self }
        for index in results.results.indices {
            guard case .rejected(var problem) = results.results[index].verdict else { continue }
            problem.current = nil
            results.results[index].verdict = .rejected(problem)
        }
        return .results(results)
    }

    /// Whether the response to a read is of other rights than a position of the feed. A refusal does not say.
    func isOfOtherRights(than position: Cursor) -> Bool {
        if case .problem = self { return false }
        return cursor.map { $0.rights != position.rights } ?? false
    }

    /// How a device continues that asked for changes after a position of another history, where the response states it.
    var continuation: Problem.Continuation? {
        if case .problem(let problem, _, _) = self, problem.code == .epochChanged { problem.continuation } else { nil }
    }
}
