import FreshetHTTPCache
import FreshetTestSupport
import HTTPTypes
import Testing

@Suite struct HTTPCacheRecordTests {
    private func samples() throws -> [HTTPCacheRecord] {
        let url = try #require(HTTPURL("http://h/a?b"))
        var request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/a?b")
        request.headerFields = [.acceptLanguage: "de", .accept: ""]
        let response = HTTPResponse(
            status: .ok,
            headerFields: [.vary: "Accept-Language, X-None, Accept", .contentType: "text/plain; charset=\u{E9}", .eTag: "\"1\""])
        let stored = StoredHTTPResponse(
            url: url, request: request, response: response, body: Array(0...255), requestTime: -1, responseTime: .max / 2)
        return [.response(stored), .variants([stored.selection]), .variants([])]
    }

    @Test func whatIsKeptIsReadAgain() throws {
        for record in try samples() { #expect(HTTPCacheRecord(encoded: record.encoded) == record) }
    }

    @Test func everyDamageIsNoticed() throws {
        for record in try samples() {
            let bytes = record.encoded
            for index in bytes.indices {
                // When a byte is changed, or the rest is missing
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(index % 8)
                // Then there is no record
                #expect(HTTPCacheRecord(encoded: damaged) == nil)
                #expect(HTTPCacheRecord(encoded: Array(bytes[..<index])) == nil)
            }
            #expect(HTTPCacheRecord(encoded: bytes + [0]) == nil)
        }
    }

    @Test func rubbishIsNoRecord() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            let rubbish = (0..<Int.random(in: 0..<80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(HTTPCacheRecord(encoded: rubbish) == nil)
            #expect(HTTPCacheRecord(encoded: [0x46, 0x48, 0x54, 0x43, 1] + rubbish) == nil)
        }
    }

    @Test func aVariantHasANameOfItsOwn() throws {
        let url = try #require(HTTPURL("http://h/a"))
        let requests = [[:], [.accept: ""], [.accept: "a"], [.accept: "a", .acceptLanguage: "b"], [.acceptLanguage: "b"]] as [HTTPFields]
        let response = HTTPResponse(status: .ok, headerFields: [.vary: "Accept, Accept-Language"])
        let names = requests.map { fields in
            var request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/a")
            request.headerFields = fields
            return HTTPCacheRecord.name(
                of: StoredHTTPResponse(url: url, request: request, response: response, body: [], requestTime: 0, responseTime: 0).selection,
                at: url)
        }
        #expect(Set(names + [HTTPCacheRecord.name(of: url)]).count == 6)
    }

    @Test("the name of a variant contains no value of the request")
    func secrets() throws {
        let url = try #require(HTTPURL("http://h/a"))
        var request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/a")
        request.headerFields = [.authorization: "Bearer secret"]
        let response = HTTPResponse(status: .ok, headerFields: [.vary: "Authorization"])
        let stored = StoredHTTPResponse(url: url, request: request, response: response, body: [], requestTime: 0, responseTime: 0)
        let name = HTTPCacheRecord.name(of: stored.selection, at: url)
        #expect(!name.contains("secret") && name.hasPrefix("http://h/a\n") && name.utf8.count < 40)
    }
}
