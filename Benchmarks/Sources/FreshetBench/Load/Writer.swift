/// One of many writers: a device that sends its next writes as soon as the last were answered.
struct Writer {
    var connection: Connection
    let index: Int
    /// The last number that was accepted.
    private var number = 0

    init(connection: Connection, index: Int) {
        self.connection = connection
        self.index = index
    }

    /// Sends `batch` writes by `POST /writes`, each to a different record; for 0 one by `PUT`.
    mutating func send(_ batch: Int, in namespace: String) throws {
        guard batch > 0 else { return try connection.send(HTTPRequest.put("/v1/\(namespace)/records/load/\(index)", Self.value)) }
        var body = Array("{\"client\":\"storm-\(index)\",\"writes\":[".utf8)
        body.reserveCapacity(body.count + batch * (Self.tail.count + 64))
        for offset in 1...batch {
            body += "\(offset == 1 ? "" : ",")\n{\"number\":\(number + offset),\"op\":\"put\",\"key\":\"load/\(index)-\(offset)".utf8
            body += Self.tail
        }
        body += "]}".utf8
        try connection.send(HTTPRequest.post("/v1/\(namespace)/writes", body))
    }

    /// The writes were accepted, so the next ones follow.
    mutating func taken(_ batch: Int) { number += batch }

    private static let value = HTTPRequest.value(bytes: 100)
    private static let tail = Array("\",\"value\":\(value)}".utf8)
}
