package import FreshetWire

/// A request for the transport to send.
package struct RequestDescription: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// `GET changes`; `wait` in seconds. With `client` the response states that device's last decided write; `wait` is 0 then.
        case changes(since: Since, filter: ChangeFilter, wait: Int, limit: Int, client: ClientIdentifier? = nil)
        /// `POST writes`
        case writes(WriteBatch)
        /// `POST reads`
        case reads(ReadsRequest)
        /// `GET records/{collection}/{id}`, with `If-None-Match` where the position of the known record is given. With `client` the response
        /// states that device's last decided write.
        case record(RecordKey, known: Cursor?, client: ClientIdentifier? = nil)
        /// `GET clients/{client}`
        case clientStatus(ClientIdentifier)
    }

    package var id: RequestID
    package var kind: Kind
    /// Whether the token closure must give a fresh token, since the last one was refused with `401`.
    package var needsFreshToken: Bool
    /// How long the transport may take, in milliseconds. The machine's watchdog fires at the same time, independently
    /// of the transport.
    package var timeout: Int64

    package init(id: RequestID, kind: Kind, needsFreshToken: Bool, timeout: Int64) {
        self.id = id
        self.kind = kind
        self.needsFreshToken = needsFreshToken
        self.timeout = timeout
    }
}

/// The decoded response to a request.
package enum Reply: Hashable, Sendable {
    /// `200` of `changes`.
    case page(ChangePage)
    /// `204` of `changes`: nothing happened up to this position.
    case quiet(Cursor)
    /// `200` of `writes`.
    case results(WriteResults)
    /// `200` of `reads`.
    case reads(ReadsResponse)
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
    /// ``TransportFailure/foreign(_:)``.
    case problem(Problem, cursor: Cursor?, retryAfter: Int64?)
    /// The response has more bytes than the transport accepts, as the text explains: ask for less.
    case tooLarge(String)
    /// No complete response arrived.
    case failure(TransportFailure)
    /// A response that violates the protocol, as the text explains.
    case garbage(String)
}

extension Reply {
    /// The history of the response, where it states one.
    var epoch: Epoch? {
        switch self {
        case .page(let page): page.cursor.epoch
        case .quiet(let cursor), .record(_, let cursor), .notModified(let cursor), .missing(let cursor), .client(_, let cursor):
            cursor.epoch
        case .results(let results): results.cursor.epoch
        case .reads(let reads): reads.cursor.epoch
        case .problem(_, let cursor, _): cursor?.epoch
        case .tooLarge, .failure, .garbage: nil
        }
    }
}

/// The reason why there was no response.
package enum TransportFailure: Error, Hashable, Sendable {
    /// No address, no route, or connection refused: the request was not sent. Check the URL and the network.
    case unreachable(String)
    /// The connection broke or the time was over. The request may have arrived.
    case interrupted(String)
    /// The watchdog of the machine fired: no response within hold and grace.
    case watchdog
    /// Something other than a Freshet server answered: a proxy, the login page of a network, a firewall. The request
    /// may have arrived.
    case foreign(ForeignAnswer)
    /// A server of another store than the device's answered; `nil` for a server that does not state its store.
    case otherStore(StoreIdentifier?, expected: StoreIdentifier)

    /// The minimum wait before the next attempt, in milliseconds, where the answer stated one.
    var retryAfter: Int64? { if case .foreign(let answer) = self { answer.retryAfter } else { nil } }
}

/// An HTTP response that no Freshet server gives to such a request.
package struct ForeignAnswer: Hashable, Sendable {
    package var status: Int
    /// Its `Retry-After` in milliseconds.
    package var retryAfter: Int64?
    /// Why the response is not from a Freshet server.
    package var text: String

    package init(status: Int, retryAfter: Int64? = nil, _ text: String) {
        self.status = status
        self.retryAfter = retryAfter
        self.text = text
    }
}
