import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite struct FieldLineStartTests {
    @Test func aLineIsTheSameAsOneOfNameAndText() throws {
        // Given
        var expected: ResponseFields = [.cacheControl: "no-store"]
        expected.append(.eTag, "\"k3v9 1\u{1}\r\nX: y\"")
        // When
        var fields: ResponseFields = [.cacheControl: "no-store"]
        fields.reserve(100)
        fields.append(try #require(FieldLineStart(.eTag))) { $0.append(contentsOf: "\"k3v9 1\u{1}\r\nX: y\"".utf8) }
        // Then
        #expect(fields == expected)
    }

    @Test(arguments: [HTTPField.Name.contentLength, .date, .connection, .transferEncoding])
    func thereIsNoneOfAFieldThatBelongsToTheServer(_ name: HTTPField.Name) { #expect(FieldLineStart(name) == nil) }
}
