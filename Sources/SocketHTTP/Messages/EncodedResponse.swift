/// A response encoded once, `Date` included, for any number of exchanges: they share its bytes.
///
/// The parts that differ between exchanges, a `Connection` field or the missing body of an answer to `HEAD`, are added
/// as each is sent.
public struct EncodedResponse: Sendable {
    /// The whole message.
    let bytes: [UInt8]
    /// Where the head's last, empty line begins: the place for a further field.
    let headEnd: Int

    /// Encodes `response`, dated now.
    public init(_ response: Response) {
        self.init(response, date: DateField.now())
    }

    init(_ response: Response, date: [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(160 + response.fields.lines.count + response.body.count)
        ResponseEncoder.appendHead(response, date: date, to: &bytes)
        headEnd = bytes.count
        ResponseEncoder.appendEnd(ConnectionField.none, to: &bytes)
        if ResponseEncoder.hasBody(response.status) { bytes.append(contentsOf: response.body) }
        self.bytes = bytes
    }

    /// The message as one recipient gets it. O(n).
    package func message(isHeadOnly: Bool, closes: Bool) -> [UInt8] {
        var message = Array(bytes[..<headEnd])
        ResponseEncoder.appendEnd(closes ? .close : .none, to: &message)
        return isHeadOnly ? message : message + bytes[bodyStart...]
    }

    /// Where the body begins.
    var bodyStart: Int { headEnd + 2 }
}
