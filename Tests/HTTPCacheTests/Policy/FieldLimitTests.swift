import FreshetHTTPCache
import HTTPTypes
import Testing

@Suite("Limits of the fields of a stored response")
struct FieldLimitTests {
    private let policy = HTTPCachePolicy()

    private static func request(_ method: HTTPRequest.Method = .get) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "a", path: "/b")
    }

    /// The fields of a response with a date, and further ones whose names are numbered.
    private static func fields(_ numbers: Range<Int>, _ value: String = "") throws -> HTTPFields {
        var fields: HTTPFields = [.eTag: "\"v\"", .cacheControl: "max-age=0", .date: "Wed, 01 May 2024 00:00:00 GMT"]
        for number in numbers { fields.append(HTTPField(name: try #require(HTTPField.Name("X-\(number)")), value: value)) }
        return fields
    }

    private static func stored(_ fields: HTTPFields) throws -> StoredHTTPResponse {
        StoredHTTPResponse(
            url: try #require(HTTPURL("http://a/b")), request: request(), response: HTTPResponse(status: .ok, headerFields: fields),
            body: [1], requestTime: 0, responseTime: 0)
    }

    private func action(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, stored: StoredHTTPResponse?, method: HTTPRequest.Method = .get
    ) throws -> HTTPCacheAction {
        policy.action(
            to: Self.request(method), hasContent: false, url: try #require(HTTPURL("http://a/b")),
            HTTPResponse(status: status, headerFields: fields), [1], stored: stored, isConditional: stored != nil, mode: .standard,
            requestTime: 0, responseTime: 0)
    }

    @Test("confirmations that each add fields remove the response when it has too many", arguments: [(3_000, ""), (1, "x")])
    func confirmations(count: Int, value: String) throws {
        // Given a stored response, which a confirmation has given further fields
        let value = String(repeating: value, count: 200_000)
        let first = try action(.notModified, try Self.fields(0..<count, value), stored: try Self.stored(try Self.fields(0..<0)))
        guard case .freshen(let fresh) = first else {
            Issue.record("it was not updated")
            return
        }
        // When another one has as many of other names
        let others = try Self.fields(count..<(2 * count), value)
        // Then the response is returned once more, and removed
        guard case .confirmAndRemove(let last, .tooManyFields) = try action(.notModified, others, stored: fresh) else {
            Issue.record("it stays stored")
            return
        }
        #expect(last.fields.count == 3 + 2 * count && last.body == [1])
        // And so it is after the answer to a HEAD
        #expect(try action(.ok, others, stored: fresh, method: .head) == .pass(.tooManyFields, removesStored: true))
        // And one with the same names replaces them
        guard case .freshen(let same) = try action(.notModified, try Self.fields(0..<count), stored: fresh) else {
            Issue.record("it was not updated")
            return
        }
        let expected = try Self.fields(0..<count)
        #expect(same.fields == expected)
    }

    @Test("the lines of a name replace all earlier ones, in any spelling, and other fields stay")
    func replacedLines() throws {
        // Given a stored response with two lines of a name
        let name = try #require(HTTPField.Name("X-Line"))
        let other = try #require(HTTPField.Name("x-line"))
        let unchanged = try #require(HTTPField.Name("X-0"))
        var fields = try Self.fields(0..<1, "stays")
        fields[values: name] = ["1", "2"]
        // When a confirmation has three others
        var confirmation = try Self.fields(0..<0)
        confirmation[values: other] = ["3", "4", "5"]
        guard case .freshen(let fresh) = try action(.notModified, confirmation, stored: try Self.stored(fields)) else {
            Issue.record("it was not updated")
            return
        }
        // Then
        #expect(fresh.fields[values: name] == ["3", "4", "5"])
        #expect(fresh.fields[unchanged] == "stays" && fresh.fields.count == 7)
    }

    @Test("a response with as many fields as the transport accepts, but no date, is not stored")
    func response() throws {
        // Given a response that is stored
        var fields = try Self.fields(0..<4_093)
        let stored = try Self.stored(fields)
        #expect(try action(.ok, fields, stored: nil) == .store(stored))
        // When it has another field in place of its date
        fields[.date] = nil
        fields.append(HTTPField(name: .age, value: "0"))
        // Then
        #expect(try action(.ok, fields, stored: nil) == .pass(.tooManyFields, removesStored: true))
    }

    @Test("a record with more fields is no record")
    func record() throws {
        let most = HTTPCacheRecord.response(try Self.stored(try Self.fields(0..<4_093)))
        #expect(HTTPCacheRecord(encoded: most.encoded) == most)
        let more = HTTPCacheRecord.response(try Self.stored(try Self.fields(0..<4_094)))
        #expect(HTTPCacheRecord(encoded: more.encoded) == nil)
    }
}
