import Foundation
import FreshetClient
import FreshetTestSupport
import FreshetWire
import Testing

@Suite("Dates in values")
struct DateCodecTests {
    private struct Event: Codable, Hashable, Sendable { var at: Date }

    private let codec = ValueCodec<Event>.json()

    private func text(_ seconds: Double) throws -> String {
        String(decoding: try codec.encode(Event(at: Date(timeIntervalSinceReferenceDate: seconds))).bytes, as: UTF8.self)
    }

    private func read(_ json: String) throws -> Double {
        try codec.decode(Content(json: Array(#"{"at":\#(json)}"#.utf8))).at.timeIntervalSinceReferenceDate
    }

    @Test(
        "a date is a text with as many digits as it needs",
        arguments: [
            (0.0, "2001-01-01T00:00:00Z"), (0.25, "2001-01-01T00:00:00.250Z"), (-0.5, "2000-12-31T23:59:59.500Z"),
            (817_313_645.000_25, "2026-11-25T15:34:05.000250Z"), (1e-9, "2001-01-01T00:00:00.000000001Z"),
            (-63_145_526_400, "0000-01-01T00:00:00Z"), (-63_113_904_000, "0001-01-01T00:00:00Z"), (252_423_993_599, "9999-12-31T23:59:59Z"),
            (236_563_200, "2008-07-01T00:00:00Z"),
        ])
    func encodes(seconds: Double, expected: String) throws {
        #expect(try text(seconds) == #"{"at":"\#(expected)"}"#)
        #expect(try read("\"\(expected)\"") == seconds)
    }

    @Test("each date of these centuries is read as it was")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<5_000 {
            let sign: Double = Bool.random(using: &generator) ? 1 : -1
            let event = Event(at: Date(timeIntervalSinceReferenceDate: sign * .random(in: 1e7...5e9, using: &generator)))
            #expect(try codec.decode(try codec.encode(event)) == event)
            // Within some months of 2001 a Date is finer than nanoseconds
            let near = Event(at: Date(timeIntervalSinceReferenceDate: .random(in: -1e6...1e6, using: &generator)))
            #expect(abs(try codec.decode(try codec.encode(near)).at.timeIntervalSince(near.at)) < 1e-9)
        }
        let now = Event(at: Date())
        #expect(try codec.decode(try codec.encode(now)) == now)
    }

    @Test(
        "other languages' forms are read, and what earlier versions wrote",
        arguments: [
            (#""2001-01-01T02:00:00+02:00""#, 0.0), (#""2000-12-31T23:30:00.000-00:30""#, 0), (#""2001-01-01t00:00:00.5z""#, 0.5),
            (#""2001-01-01T00:00:00.123456+00:00""#, 0.123456), (#""2001-01-01T00:00:00.1234567890123456789Z""#, 0.123456789012345),
            ("817313645.25", 817_313_645.25), ("-1", -1), ("0", 0),
        ])
    func reads(json: String, seconds: Double) throws { #expect(try read(json) == seconds) }

    @Test(
        "JSON that is no date is refused",
        arguments: [
            #""""#, #""2001-02-30T00:00:00Z""#, #""2001-01-01""#, #""2001-01-01T00:00:00""#, #""2001-01-01T24:00:00Z""#,
            #""2001-01-01T00:00:00.Z""#, #""2001-01-01T00:00:00+1:00""#, #""2001-01-01T00:00:00Zx""#, #""２001-01-01T00:00:00Z""#, "true",
            "null",
        ])
    func refuses(json: String) { #expect(throws: (any Error).self) { try read(json) } }

    @Test("a date that no text can say is not encodable", arguments: [Double.infinity, .nan, 1e300, -63_145_526_401])
    func limits(seconds: Double) async throws {
        // Given
        #expect(throws: EncodingError.self) { try text(seconds) }
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        let event = Event(at: Date(timeIntervalSinceReferenceDate: seconds))
        // Then the SDK's error can be described, which a far date itself can not
        let error = await #expect(throws: ClientError.self) { try await client.collection("events").setValue(event, forKey: "1") }
        #expect("\(try #require(error))".contains("a date takes a year from 0 to 9999"))
        await client.stop()
    }

    @Test("a patch has the same dates")
    func patches() async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        let events = client.collection("events", of: Event.self)
        let date = Date(timeIntervalSinceReferenceDate: 0.25)
        try await events.setValue(Event(at: .distantPast), forKey: "1")
        // When
        try await events.merge(["at": date], into: "1")
        // Then
        #expect(events["1"]?.value == Event(at: date))
        #expect(events["1"]?.content?.bytes == Array(#"{"at":"2001-01-01T00:00:00.250Z"}"#.utf8))
        await client.stop()
    }
}
