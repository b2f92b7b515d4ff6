/// Requests as bytes.
enum HTTPRequest {
    /// - Parameter fields: further fields, each with its line's end.
    static func get(_ path: String, fields: String = "") -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n".utf8)
    }

    static func put(_ path: String, _ body: String, fields: String = "") -> [UInt8] { message("PUT \(path)", Array(body.utf8), fields) }

    static func post(_ path: String, _ body: [UInt8], fields: String = "") -> [UInt8] { message("POST \(path)", body, fields) }

    private static func message(_ line: String, _ body: [UInt8], _ fields: String) -> [UInt8] {
        let head = "\(line) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\(fields)\r\n"
        return Array(head.utf8) + body
    }

    /// A JSON value of that many bytes, at least 10.
    static func value(bytes: Int) -> String { "{\"pad\":\"\(String(repeating: "x", count: max(0, bytes - 10)))\"}" }
}
