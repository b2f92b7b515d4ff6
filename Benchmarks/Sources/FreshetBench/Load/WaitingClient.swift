/// One waiting client: follows the collection `w` by its cursor, whose records are called by the numbers of their changes.
struct WaitingClient {
    var connection: Connection
    var cursor: String
    /// The number of the last change seen.
    private(set) var seen = 0
    /// Changes that arrived twice, or out of order.
    private(set) var disordered = 0
    /// Fields of each of its requests.
    private let fields: String

    init(connection: Connection, cursor: String, fields: String = "") {
        self.connection = connection
        self.cursor = cursor
        self.fields = fields
    }

    mutating func poll(_ namespace: String) throws {
        try connection.send(HTTPRequest.get("/v1/\(namespace)/changes?since=\(cursor)&wait=60&collection=w", fields: fields))
    }

    /// Whether a complete answer arrived.
    mutating func receive(_ scratch: inout [UInt8]) throws -> Bool {
        guard try connection.receive(into: &scratch) != nil else { return false }
        guard connection.status == 200 || connection.status == 204 else { throw LoadError.status(connection.status) }
        guard let cursor = connection.field("Freshet-Cursor") else { throw LoadError.noCursor }
        self.cursor = cursor
        for number in connection.numbers(after: "\"key\":\"w/") {
            if number != seen + 1 { disordered += 1 }
            seen = number
        }
        return true
    }
}
