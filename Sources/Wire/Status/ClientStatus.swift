/// The answer to `GET /v1/{ns}/clients/{client}`: the number of a device's last decided write.
package struct ClientStatus: WireMessage {
    /// The device.
    package var client: ClientIdentifier
    /// The number of its last decided write, at most 2^53−1; 0 if it has none.
    package var last: Int64

    /// A status.
    package init(client: ClientIdentifier, last: Int64) {
        self.client = client
        self.last = last
    }

    /// `{"client":…,"last":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("client", client.text)
        writer.member("last", last)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var client: ClientIdentifier?
        var last: Int64?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "client": client = try ClientIdentifier(try reader.string())
            case "last": last = try reader.integer()
            default: try reader.skip()
            }
        }
        guard let client, let last else { throw .unexpectedJSON("a client's status takes 'client' and 'last'") }
        guard (0...Revision.maximum.number).contains(last) else {
            throw .unexpectedJSON("a client's status has the 'last' number \(last), which is no whole number from 0 to 2^53-1")
        }
        self.init(client: client, last: last)
    }
}
