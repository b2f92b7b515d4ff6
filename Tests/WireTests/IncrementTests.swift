import FreshetWire
import Testing

/// The conditions of an increment on the record and on the sum.
@Suite struct IncrementTests {
    private func made(_ increment: Increment, of text: String?) throws(IncrementFailure) -> String {
        let document = text.flatMap { try? JSONDocument(Array($0.utf8)) }
        return String(decoding: try increment.applied(to: document).bytes, as: UTF8.self)
    }

    private func stock(
        _ amount: JSONNumber, _ onMissing: Increment.OnMissing = .create(from: nil), min: JSONNumber? = nil, max: JSONNumber? = nil
    ) throws -> Increment {
        Increment(path: try JSONPointer("/stock"), by: amount, onMissing: onMissing, minimum: min, maximum: max)
    }

    @Test("a missing record is rejected, begins from 0, or begins from the value given")
    func missingRecords() throws {
        // Given
        let initial = Array(#"{"name":"Apple","stock":10}"#.utf8)
        // Then
        #expect(throws: IncrementFailure.missing) { try made(stock(.integer(-1), .reject), of: nil) }
        #expect(try made(stock(.integer(-1)), of: nil) == #"{"stock":-1}"#)
        #expect(try made(stock(.integer(-1), .create(from: initial)), of: nil) == #"{"name":"Apple","stock":9}"#)
        // Then: where there is one, all of them add to it
        for rule in [Increment.OnMissing.reject, .create(from: nil), .create(from: initial)] {
            #expect(try made(stock(.integer(-1), rule), of: #"{"stock":3}"#) == #"{"stock":2}"#)
        }
    }

    @Test(
        "a sum outside the bounds is refused, however the numbers are spelt",
        arguments: [
            ("3", -3, true), ("3", -4, false), ("10", 0, true), ("10", 1, false), ("0.5", -1, false), ("9.5", 1, false), ("9.5", 0, true),
            ("-5", 1, false),
        ])
    func bounds(before: String, amount: Int64, isTaken: Bool) throws {
        let increment = try stock(.integer(amount), min: .integer(0), max: .integer(10))
        let sum = try? made(increment, of: "{\"stock\":\(before)}")
        #expect((sum != nil) == isTaken)
    }

    @Test("the bounds hold for a record that the increment creates")
    func boundsOfNewRecords() throws {
        let initial = Array(#"{"stock":1}"#.utf8)
        #expect(throws: IncrementFailure.self) { try made(stock(.integer(-1), min: .integer(0)), of: nil) }
        #expect(throws: IncrementFailure.self) { try made(stock(.integer(-2), .create(from: initial), min: .integer(0)), of: nil) }
        #expect(try made(stock(.integer(-1), .create(from: initial), min: .integer(0)), of: nil) == #"{"stock":0}"#)
    }

    @Test("whole numbers and fractions are compared exactly")
    func exactComparison() throws {
        let (large, real) = (JSONNumber.integer(9_007_199_254_740_993), JSONNumber.real(9_007_199_254_740_992))
        #expect(real < large && !(large < real))
        #expect(JSONNumber.integer(.max) < .real(0x1p63) && !(JSONNumber.real(0x1p63) < .integer(.max)))
        #expect(!(JSONNumber.integer(.min) < .real(-0x1p63)) && !(JSONNumber.real(-0x1p63) < .integer(.min)))
        #expect(JSONNumber.real(-0x1p64) < .integer(.min) && JSONNumber.integer(-1) < .real(-0.5) && JSONNumber.real(-1.5) < .integer(-1))
        #expect(!(JSONNumber.integer(2) < .real(2)) && !(JSONNumber.real(2) < .integer(2)))
    }

    @Test("a write carries what its increment demands", arguments: [0, 1, 2, 3])
    func survivesTheWire(number: Int) throws {
        // Given
        let increments = try [
            stock(.integer(-1), .reject, min: .integer(0)), stock(.real(0.5), .create(from: Array("{}".utf8)), max: .real(2.5)),
            stock(.integer(1), min: .integer(.min), max: .integer(.max)), stock(.integer(1)),
        ]
        let write = Write(number: 1, key: try RecordKey("products/apple"), operation: .increment(increments[number]))
        // Then
        #expect(try Write(json: write.json) == write)
    }

    @Test("a row of an earlier outbox begins from 0 and has no bounds")
    func readsEarlierRows() throws {
        let row = #"{"number":7,"op":"increment","key":"products/apple","path":"/stock","by":-1}"#
        #expect(try Write(json: Array(row.utf8)).operation == .increment(stock(.integer(-1))))
    }

    @Test(
        "a write with impossible conditions is refused",
        arguments: [
            (#""by":1,"onMissing":"maybe""#, "reject or create"), (#""by":1,"onMissing":"reject","value":1"#, "not both"),
            (#""by":1,"body":{"base64":"AA==","contentType":"image/png"}"#, "not a 'body'"), (#""by":1,"min":2,"max":1"#, "above 'max'"),
            (#""by":9223372036854775808"#, "-2^63 to 2^63-1"), (#""by":1,"max":1e999"#, "'max'"),
        ])
    func refusesContradictions(members: String, words: String) throws {
        let text = "{\"number\":1,\"op\":\"increment\",\"key\":\"a/1\",\"path\":\"\",\(members)}"
        let error = try #require(throws: WireError.self) { try Write(json: Array(text.utf8)) }
        #expect(error.description.contains(words))
    }
}
