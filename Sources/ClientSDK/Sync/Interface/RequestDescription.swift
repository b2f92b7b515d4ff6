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
        /// `GET records/{collection}` without values: the ids after one, at most `limit`.
        case list(String, after: String?, limit: Int)
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
