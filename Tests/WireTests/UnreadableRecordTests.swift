import FreshetWire
import Testing

@Suite("Records that a reader does not understand")
struct UnreadableRecordTests {
    /// The record between two others, in a list and in an answer to reads.
    private static func records(_ record: String) throws(WireError) -> [[Record]] {
        let records = #"[{"key":"c/1","revision":5,"value":1},\#(record),{"key":"c/3","revision":7,"value":3}]"#
        let list = try RecordList(json: Array(#"{"records":\#(records),"next":null,"cursor":"abc-7"}"#.utf8))
        let reads = try ReadsResponse(json: Array(#"{"records":\#(records),"missing":[],"next":null,"cursor":"abc-7"}"#.utf8))
        return [list.records, reads.records]
    }

    @Test(
        "one is read without its value, and the others are read whole",
        arguments: [
            #"{"key":"c/2","revision":6,"body":{"base64":"?"}}"#, #"{"key":"c/2","revision":6,"body":{"zstd":"AA"}}"#,
            #"{"key":"c/2","revision":6,"value":2,"contentType":"\ud800"}"#, #"{"size":"large","value":2,"revision":6,"key":"c/2"}"#,
            #"{"key":"c/2","modified":[{"at":1}],"value":2,"revision":6}"#,
            #"{"key":"c/2","revision":6,"body":{"base64":"aGVsbG8=","contentType":"application/json"}}"#,
        ])
    func leavesOutTheValue(record: String) throws {
        // Given a record that is JSON but not understood, When it is read
        for records in try Self.records(record) {
            // Then neither a value nor its absence is claimed
            #expect(records.map(\.key.description) == ["c/1", "c/2", "c/3"] && records.map(\.revision.number) == [5, 6, 7])
            #expect(records.map { $0.content.map { String(decoding: $0.bytes, as: UTF8.self) } } == ["1", nil, "3"])
        }
    }

    @Test(
        "one that is no JSON, or whose key or revision is not known, is refused",
        arguments: [
            #"{"key":"c/2","revision":6,"value":tru}"#, #"{"key":"c/2","value":2}"#, #"{"key":"c/2","revision":-6,"value":2}"#,
            #"{"key":"no-slash","revision":6,"value":2}"#, #"{"revision":6,"value":2}"#, "7",
        ])
    func refusesTheRest(record: String) {
        #expect(throws: WireError.self) { try Self.records(record) }
    }
}
