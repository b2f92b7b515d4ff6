/// A message of the protocol: the content of one request or response body.
///
/// Unknown members are ignored, so that either side can be newer than the other.
package protocol WireMessage: Hashable, Sendable {
    /// Writes the message as one JSON value.
    func write(to writer: inout JSONWriter)
    /// Reads the message from the next JSON value.
    init(_ reader: inout JSONReader) throws(WireError)
}

extension WireMessage {
    /// The message as JSON.
    package var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// - Throws: ``WireError``, which says at which byte and what would be right.
    /// - Parameter profile: ``JSONReader/Profile/interoperable`` for messages that a server receives.
    package init(json bytes: [UInt8], profile: JSONReader.Profile = .json) throws(WireError) {
        var reader = JSONReader(bytes, profile: profile)
        try self.init(&reader)
        try reader.end()
    }
}
