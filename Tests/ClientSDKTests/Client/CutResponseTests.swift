import FreshetClient
import FreshetTestSupport
import FreshetWire
import Testing

@Suite("A response that a proxy without lengths has cut") struct CutResponseTests {
    @Test("is an error, and nothing of it is stored")
    func cut() async throws {
        // Given a server whose record comes whole under one id, and under another one without a length, and half of it
        let server = ScriptedServer { connection in
            while let (head, _) = connection.request() {
                if head.contains("since=a-9"), !head.contains("wait=0") { return connection.waitUntilClosed() }
                let fields = "Freshet-Cursor: a-9\r\nFreshet-Last-Write: 0\r\n"
                let record = "\(fields)ETag: \"a-7\"\r\nContent-Type: image/png\r\n"
                if head.contains("/records/pictures/cut") { return connection.send("HTTP/1.0 200 OK\r\n\(record)\r\npic") }
                if head.contains("/records/pictures/whole") {
                    connection.respond("picture", fields: record)
                } else {
                    let page = #"{"changes":[],"cursor":"a-9","upToDate":true}"#
                    connection.respond(page, fields: "\(fields)Content-Type: application/json\r\n")
                }
            }
        }
        let client = try ServerFixture.client(server.url) { $0.following = .cachedRecords }
        try await client.start()
        try await within { try await client.waitUntilLive() }
        let pictures = client.rawCollection("pictures")
        // When both are read
        let whole = try await within { try await pictures.value(forKey: "whole") }
        let error = await #expect(throws: ClientError.self) { try await within { try await pictures.value(forKey: "cut") } }
        // Then
        #expect(whole == Content(bytes: Array("picture".utf8), type: "image/png"))
        guard case .unreachable(let text)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("length"))
        #expect(try await pictures.snapshot(forKey: "cut", policy: .cacheOnly).isKnown == false)
        await client.stop()
    }
}
