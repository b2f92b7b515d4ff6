import FreshetWire
import Testing

@Suite("Messages")
struct MessageTests {
    /// Reads the text, writes it again, and expects the same text.
    private func roundTrip<Message: WireMessage>(_ type: Message.Type, _ text: String) throws {
        let message = try Message(json: Array(text.utf8))
        #expect(String(decoding: message.json, as: UTF8.self) == text)
        #expect(try Message(json: message.json) == message)
    }

    @Test(
        "changes",
        arguments: [
            #"{"key":"c/1","revision":3,"op":"put","value":{"a": 1},"size":8,"modified":"2026-11-21T15:34:05.250Z","client":"d1","write":7}"#,
            #"{"key":"c/1","revision":3,"op":"put","body":{"base64":"AAE=","contentType":"image/png"},"contentType":"image/png","size":2}"#,
            #"{"key":"c/1","revision":3,"op":"put","size":70000}"#,
            #"{"key":"c/1","revision":3,"op":"put","contentType":"image/png","size":70000}"#,
            #"{"key":"c/1","revision":4,"op":"delete","modified":"2026-11-21T15:34:05.250Z"}"#,
            #"{"key":"c/1","revision":5,"op":"invalidate"}"#,
            #"{"revision":6,"op":"invalidate"}"#,
            #"{"revision":6,"op":"invalidate","collection":"c"}"#,
            #"{"revision":6,"op":"invalidate","collection":"c","prefix":"eu-"}"#,
        ])
    func changes(text: String) throws { try roundTrip(Change.self, text) }

    @Test(
        "batches",
        arguments: [
            #"{"client":"d1","writes":[{"number":7,"op":"put","key":"c/7","value":{"a":1},"ifRevision":1040},{"number":8,"op":"delete","key":"c/8"}]}"#,
            #"{"client":"d1","atomic":true,"writes":[{"number":1,"op":"increment","key":"c/7","path":"/visits","by":1}]}"#,
            #"{"client":"d1","epoch":"05m2tq8k1c7va","writes":[{"number":1,"op":"delete","key":"c/7"}]}"#,
            #"{"client":"d1","epoch":"05m2tq8k1c7va","resume":true,"writes":[{"number":41,"op":"delete","key":"c/7"}]}"#,
            #"{"client":"d1","writes":[{"number":1,"op":"patch","key":"c/7","value":{"a":null}},{"number":2,"op":"put","key":"c/9","body":{"base64":"AAE=","contentType":"image/png"}}]}"#,
        ])
    func batches(text: String) throws { try roundTrip(WriteBatch.self, text) }

    @Test(
        "batches that are refused, each with the right form",
        arguments: [
            (#"{"writes":[{"number":1,"op":"delete","key":"c/1"}]}"#, "client"),
            (#"{"client":"d","writes":[]}"#, "1 to 1000"),
            (#"{"client":"d","epoch":"abc-1","writes":[{"number":1,"op":"delete","key":"c/1"}]}"#, "before its dash"),
            (#"{"client":"d","epoch":7,"writes":[{"number":1,"op":"delete","key":"c/1"}]}"#, "string"),
            (#"{"client":"d","resume":true,"writes":[{"number":7,"op":"delete","key":"c/1"}]}"#, "only with 'epoch'"),
            (#"{"client":"d","epoch":"abc","resume":1,"writes":[{"number":7,"op":"delete","key":"c/1"}]}"#, "true or false"),
            (#"{"client":"d","writes":[{"number":0,"op":"delete","key":"c/1"}]}"#, "from 1"),
            (#"{"client":"d","writes":[{"number":9007199254740992,"op":"delete","key":"c/1"}]}"#, "2^53-1"),
            (
                #"{"client":"d","writes":[{"number":1,"op":"delete","key":"c/1"},{"number":3,"op":"delete","key":"c/1"}]}"#,
                "follow each other"
            ),
            (#"{"client":"d","writes":[{"number":1,"op":"drop","key":"c/1"}]}"#, "put, patch, delete or increment"),
            (#"{"client":"d","writes":[{"number":1,"op":"put","key":"c/1"}]}"#, "value"),
            (#"{"client":"d","writes":[{"number":1,"op":"put","key":"c","value":1}]}"#, "collection/id"),
            (#"{"client":"d","writes":[{"number":1,"op":"increment","key":"c/1","path":"x","by":1}]}"#, "pointer"),
            (#"{"client":"d","writes":[{"number":1,"op":"increment","key":"c/1","path":"/x","by":"1"}]}"#, "number"),
            (#"{"client":"d","writes":[{"number":1,"op":"put","key":"c/1","body":{"base64":"?"}}]}"#, "base64"),
            (#"{"client":"d","writes":[{"number":1,"op":"put","key":"c/1","body":{"base64":"","contentType":"a\nb"}}]}"#, "media type"),
            (#"{"client":"d","writes":[{"number":1,"op":"put","key":"c/1","value":1,"ifRevision":-1}]}"#, "revision"),
        ])
    func refusedBatches(text: String, hint: String) {
        #expect {
            try WriteBatch(json: Array(text.utf8))
        } throws: { "\($0)".contains(hint) }
    }

    @Test(
        "results",
        arguments: [
            #"{"results":[{"number":7,"status":"applied","revision":1043},{"number":8,"status":"applied"},{"number":9,"status":"settled"}],"cursor":"abc-1043"}"#,
            #"{"results":[{"number":8,"status":"rejected","problem":{"type":"urn:freshet:problem:precondition-failed","title":"The record has changed","status":412,"detail":"d","current":{"key":"c/1","revision":2,"value":1,"contentType":"application/json","size":1,"modified":"2026-11-21T15:34:05.250Z"}}}],"cursor":"abc-1"}"#,
        ])
    func results(text: String) throws { try roundTrip(WriteResults.self, text) }

    @Test("pages, lists, reads, receipts and statuses")
    func others() throws {
        try roundTrip(ChangePage.self, #"{"changes":[{"key":"c/1","revision":5,"op":"invalidate"}],"cursor":"abc-5","upToDate":true}"#)
        try roundTrip(RecordList.self, #"{"records":[],"next":null,"cursor":"abc-5"}"#)
        try roundTrip(
            RecordList.self,
            #"{"records":[{"key":"c/1","revision":5,"contentType":"image/png","size":9,"modified":"2026-11-21T15:34:05.250Z"}],"next":"1","cursor":"abc-5"}"#
        )
        try roundTrip(ReadsRequest.self, #"{"keys":[{"key":"c/1","revision":5},{"key":"c/2"}]}"#)
        try roundTrip(ReadsResponse.self, #"{"records":[],"missing":["c/1"],"next":null,"cursor":"abc-5"}"#)
        try roundTrip(ReadsResponse.self, #"{"records":[],"missing":["c/1"],"next":1,"cursor":"abc-5"}"#)
        try roundTrip(WriteReceipt.self, #"{"key":"c/1","revision":5,"cursor":"abc-5"}"#)
        try roundTrip(WriteReceipt.self, #"{"key":"c/1","cursor":"abc-5"}"#)
        try roundTrip(ClientStatus.self, #"{"client":"d","last":5}"#)
        try roundTrip(
            NamespaceStatus.self,
            #"{"namespace":"a","epoch":"abc","head":5,"records":1,"bytes":2,"tombstones":3,"invalidations":4,"clients":5,"outcomes":6,"outcomeBytes":7,"waiting":8,"cursor":"abc-5"}"#
        )
    }

    @Test("the last number of a client is from 0 to 2^53-1", arguments: [-1, -9_000_000, 9_007_199_254_740_992, Int64.max, Int64.min])
    func lastNumber(_ number: Int64) throws {
        for last in [0, 9_007_199_254_740_991] { try roundTrip(ClientStatus.self, #"{"client":"d","last":\#(last)}"#) }
        #expect {
            try ClientStatus(json: Array(#"{"client":"d","last":\#(number)}"#.utf8))
        } throws: { "\($0)".contains("from 0 to 2^53-1") }
    }

    @Test(
        "invalidations in their three forms, and nothing else",
        arguments: [
            (#"{"keys":["c/1","c/2"]}"#, true), (#"{"collection":"c","prefix":"eu-"}"#, true), (#"{"collection":"c"}"#, true),
            (#"{"all":true}"#, true),
            (#"{}"#, false), (#"{"keys":[]}"#, false), (#"{"all":false}"#, false), (#"{"prefix":"a"}"#, false),
            (#"{"all":true,"keys":["c/1"]}"#, false),
            (#"{"collection":"c","key":"c/1"}"#, false), (#"{"keys":["c/1"],"prefix":"x"}"#, false),
        ])
    func invalidations(text: String, isValid: Bool) throws {
        if isValid {
            try roundTrip(InvalidationRequest.self, text)
        } else {
            #expect(throws: WireError.self) { try InvalidationRequest(json: Array(text.utf8)) }
        }
    }

    @Test("members that are not known are passed over, so that either side may be newer")
    func unknownMembers() throws {
        let page = try ChangePage(
            json: Array(
                #"{"new":{"a":[1]},"changes":[{"key":"c/1","revision":5,"op":"delete","later":[{}]}],"cursor":"abc-5","upToDate":false}"#
                    .utf8))
        #expect(page.changes.count == 1 && !page.upToDate)
    }

    @Test("a problem with a code of a newer server keeps it")
    func unknownProblem() throws {
        let problem = try Problem(json: Array(#"{"type":"urn:freshet:problem:brand-new","status":418,"detail":"x"}"#.utf8))
        #expect(problem.code.text == "brand-new" && problem.status == 418)
    }

    @Test(
        "JSON with parameters is JSON",
        arguments: [
            ("application/json", true), ("Application/JSON; charset=utf-8", true), ("application/jsonp", false), ("text/plain", false),
        ])
    func contentTypes(type: String, isJSON: Bool) {
        #expect(Content(bytes: [], type: type).isJSON == isJSON)
    }
}
