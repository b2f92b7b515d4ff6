/// Requests as bytes.
enum HTTPRequest {
    static func get(_ path: String) -> [UInt8] { Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8) }

    static func put(_ path: String, _ body: String) -> [UInt8] { message("PUT \(path)", Array(body.utf8)) }

    static func post(_ path: String, _ body: [UInt8]) -> [UInt8] { message("POST \(path)", body) }

    private static func message(_ line: String, _ body: [UInt8]) -> [UInt8] {
        Array("\(line) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    /// A JSON value of that many bytes, at least 10.
    static func value(bytes: Int) -> String { "{\"pad\":\"\(String(repeating: "x", count: max(0, bytes - 10)))\"}" }
}
