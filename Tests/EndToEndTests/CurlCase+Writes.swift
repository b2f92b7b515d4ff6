extension CurlCase {
    /// `POST /writes` of client d1 with these writes.
    static func batch(_ writes: String, atomic: Bool = false) -> [String] {
        post("writes", #"{"client":"d1","atomic":\#(atomic),"writes":[\#(writes)]}"#)
    }

    static func post(_ path: String, _ body: String) -> [String] {
        ["-X", "POST", "-H", "Content-Type: application/json", "-d", body, "{ns}/\(path)"]
    }

    private static let first = batch(#"{"number":1,"op":"increment","key":"c/1","path":"/n","by":5}"#)

    static let writes: [CurlCase] = [
        CurlCase(
            "an increment makes its record", first, 200, body: [#"{"results":[{"number":1,"status":"applied","revision":1}],"cursor":""#]),
        CurlCase("a repeated write has its effect once", given: [first, first, first], ["{ns}/records/c/1"], 200, body: [#"{"n":5}"#]),
        CurlCase("a repeated write has the outcome that it had", given: [first], first, 200, body: [#""status":"applied","revision":1}"#]),
        .problem(
            "a number that skips one", given: [first], batch(#"{"number":3,"op":"delete","key":"c/1"}"#), 409, "write-gap",
            body: [#""expected":2"#]),
        .problem(
            "a batch of another history", given: [first],
            post("writes", #"{"client":"d1","epoch":"another","writes":[{"number":2,"op":"delete","key":"c/1"}]}"#), 410, "epoch-changed",
            fields: ["freshet-cursor": "-1"], body: ["of epoch another", "last number of d1"]),
        CurlCase(
            "numbers of another history are left out", given: [first],
            post("writes", #"{"client":"d1","epoch":"{epoch}","resume":true,"writes":[{"number":7,"op":"delete","key":"c/1"}]}"#), 200,
            body: [#"{"results":[{"number":7,"status":"applied","revision":2}],"cursor":""#]),
        CurlCase(
            "resume where no number is left out", given: [first],
            post(
                "writes",
                #"{"client":"d1","epoch":"{epoch}","resume":true,"writes":[{"number":1,"op":"increment","key":"c/1","path":"/n","by":5}]}"#),
            200, body: [#"{"results":[{"number":1,"status":"applied","revision":1}]"#]),
        .problem(
            "resume without an epoch",
            post("writes", #"{"client":"d1","resume":true,"writes":[{"number":7,"op":"delete","key":"c/1"}]}"#), 400, "invalid-json",
            body: ["only with 'epoch'"]),
        .problem(
            "resume in another history", given: [first],
            post("writes", #"{"client":"d1","epoch":"another","resume":true,"writes":[{"number":7,"op":"delete","key":"c/1"}]}"#), 410,
            "epoch-changed"),
        .problem(
            "an epoch that is none",
            post("writes", #"{"client":"d1","epoch":"no-epoch","writes":[{"number":1,"op":"delete","key":"c/1"}]}"#), 400, "invalid-json",
            body: ["before its dash"]),
        CurlCase(
            "a bad write does not block those behind it",
            batch(#"{"number":1,"op":"patch","key":"c/1","value":{}},{"number":2,"op":"put","key":"c/1","value":[1]}"#), 200,
            body: [#""number":1,"status":"rejected""#, "not-found", #""number":2,"status":"applied","revision":1"#]),
        CurlCase(
            "ifRevision that does not hold carries the record", given: [first],
            batch(#"{"number":2,"op":"put","key":"c/1","value":1,"ifRevision":9}"#), 200,
            body: [#""status":"rejected""#, "precondition-failed", #""current":{"key":"c/1","revision":1,"value":{"n":5}"#]),
        CurlCase(
            "ifRevision 0 of nothing", batch(#"{"number":1,"op":"put","key":"c/1","value":1,"ifRevision":0}"#), 200,
            body: [#""status":"applied""#]),
        CurlCase(
            "a delete of nothing is applied without effect", batch(#"{"number":1,"op":"delete","key":"c/1"}"#), 200,
            body: [#"{"number":1,"status":"applied"}"#]),
        CurlCase(
            "an atomic batch with a bad write changes nothing",
            given: [
                batch(#"{"number":1,"op":"put","key":"c/1","value":1},{"number":2,"op":"patch","key":"c/9","value":{}}"#, atomic: true)
            ],
            ["{ns}/records/c"], 200, body: [#""records":[]"#]),
        CurlCase(
            "an atomic batch that holds is applied",
            batch(#"{"number":1,"op":"put","key":"c/1","value":1},{"number":2,"op":"patch","key":"c/1","value":{"a":1}}"#, atomic: true),
            200, body: [#""revision":1"#, #""revision":2"#]),
        CurlCase(
            "a value that is not JSON",
            given: [batch(#"{"number":1,"op":"put","key":"c/1","body":{"base64":"aGk=","contentType":"text/plain"}}"#)],
            ["{ns}/records/c/1"], 200, fields: ["content-type": "text/plain"], body: ["hi"]),
        CurlCase("how far a client has come", given: [first], ["{ns}/clients/d1"], 200, body: [#"{"client":"d1","last":1}"#]),
        CurlCase("a client that never wrote", ["{ns}/clients/d9"], 200, body: [#"{"client":"d9","last":0}"#]),
        .problem("a client that cannot be", ["{ns}/clients/a%20b"], 400, "invalid-key"),
        .problem("a batch that is no JSON", post("writes", "{"), 400, "invalid-json", body: ["byte"]),
        .problem("a batch that is no batch", post("writes", "[]"), 400, "invalid-json"),
        .problem("a batch without writes", post("writes", #"{"client":"d1","writes":[]}"#), 400, "invalid-json", body: ["1 to 1000"]),
        .problem(
            "a batch that is not said to be JSON",
            ["-d", #"{"client":"d1","writes":[{"number":1,"op":"delete","key":"c/1"}]}"#, "{ns}/writes"],
            415, "unsupported-media-type", body: ["x-www-form-urlencoded", "application/json"]),
        CurlCase(
            "a single PUT with a number has its effect once",
            given: [["-H", "Freshet-Client: d1", "-H", "Freshet-Write: 1"] + put],
            ["-H", "Freshet-Client: d1", "-H", "Freshet-Write: 1"] + put, 200, body: [#""revision":1"#]),
        .problem("a number without a client", ["-H", "Freshet-Write: 1"] + put, 400, "invalid-request", body: ["Freshet-Client"]),
        .problem(
            "a number that is none", ["-H", "Freshet-Client: d1", "-H", "Freshet-Write: x"] + put, 400, "invalid-request",
            body: ["Freshet-Write"]),
        .problem(
            "a single number that skips one", ["-H", "Freshet-Client: d1", "-H", "Freshet-Write: 5"] + put, 409, "write-gap",
            body: [#""expected":1"#]),
    ]
}
