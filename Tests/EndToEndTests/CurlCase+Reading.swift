extension CurlCase {
    private static let three = [
        batch((1...3).map { #"{"number":\#($0),"op":"put","key":"c/\#($0)","value":\#($0)}"# }.joined(separator: ","))
    ]

    static let listsAndReads: [CurlCase] = [
        CurlCase(
            "a list is ordered by id", given: three, ["{ns}/records/c"], 200,
            body: [#""key":"c/1""#, #""next":null"#, #""cursor":"{cursor}""#]),
        CurlCase("a page says where the next begins", given: three, ["{ns}/records/c?limit=2"], 200, body: [#""next":"2""#]),
        CurlCase(
            "the next page", given: three, ["{ns}/records/c?limit=2&after=2"], 200, body: [#"{"records":[{"key":"c/3""#, #""next":null"#]),
        CurlCase(
            "a list by prefix", given: three, ["{ns}/records/c?prefix=2"], 200, body: [#"{"records":[{"key":"c/2""#, #""next":null"#]),
        CurlCase("a list of nothing", ["{ns}/records/none"], 200, body: [#"{"records":[],"next":null,"cursor":""#]),
        .problem("a limit that is no number", ["{ns}/records/c?limit=x"], 400, "invalid-request", body: ["limit"]),
        .problem("a limit that is too small", ["{ns}/records/c?limit=0"], 400, "invalid-request", body: ["limit", "1"]),
        CurlCase(
            "reads return changes", given: three, post("reads", #"{"keys":[{"key":"c/1","revision":1},{"key":"c/2"},{"key":"c/9"}]}"#),
            200,
            body: [#"{"records":[{"key":"c/2""#, #""missing":["c/9"]"#, #""cursor":"{cursor}""#]),
        .problem("reads of an invalid key", post("reads", #"{"keys":[{"key":"c"}]}"#), 400, "invalid-key", body: ["collection/id"]),
        CurlCase("invalidate keys", given: three, post("invalidations", #"{"keys":["c/1","x/9"]}"#), 200, body: [#"{"revision":5"#]),
        CurlCase(
            "invalidate a prefix", given: three, post("invalidations", #"{"collection":"c","prefix":"1"}"#), 200, body: [#"{"revision":4"#]),
        CurlCase("invalidate all", given: three, post("invalidations", #"{"all":true}"#), 200, body: [#"{"revision":4"#]),
        .problem("invalidate nothing", post("invalidations", "{}"), 400, "invalid-json", body: ["all"]),
        CurlCase(
            "an invalidated record keeps its value and its tag", given: three + [post("invalidations", #"{"keys":["c/1"]}"#)],
            ["{ns}/records/c/1"], 200, fields: ["etag": "-1\"", "freshet-cursor": "-4"], body: ["1"]),
    ]

    static let changes: [CurlCase] = [
        CurlCase(
            "from nothing", given: three, ["{ns}/changes?since=0"], 200, fields: ["cache-control": "no-store", "content-length": ""],
            body: [#""key":"c/1","revision":1,"op":"put","value":1"#, #""client":"d1","write":3"#, #""upToDate":true"#]),
        CurlCase("a page of them", given: three, ["{ns}/changes?since=0&limit=2"], 200, body: [#""upToDate":false"#]),
        CurlCase("now", given: three, ["{ns}/changes?since=now"], 200, body: [#"{"changes":[],"cursor":"{cursor}","upToDate":true}"#]),
        CurlCase(
            "from nothing, a filter that matches nothing",
            given: [put, ["{ns}/changes?since=now"], ["-X", "DELETE", "{ns}/records/customers/7"]],
            ["{ns}/changes?since=0&collection=other&wait=0"], 204),
        CurlCase(
            "nothing within the wait", given: three, ["{ns}/changes?since={cursor}&wait=0"], 204, fields: ["freshet-cursor": "{cursor}"]),
        CurlCase("nothing within a second", given: three, ["{ns}/changes?since={cursor}&wait=1"], 204),
        CurlCase(
            "only a collection", given: three + [put], ["{ns}/changes?since=0&collection=customers"], 200,
            body: [#"{"changes":[{"key":"customers/7""#]),
        CurlCase("only a prefix", given: three, ["{ns}/changes?since=0&prefix=3"], 200, body: [#"{"changes":[{"key":"c/3""#]),
        CurlCase("without values", given: three, ["{ns}/changes?since=0&values=false"], 200, body: [#""op":"put","size":1"#]),
        CurlCase(
            "from nothing there are no sweeps",
            given: [["{ns}/changes?since=now"], post("invalidations", #"{"collection":"c","prefix":"eu-"}"#)],
            ["{ns}/changes?since=0&wait=0"], 204),
        CurlCase(
            "a stream of server-sent events ends where curl gives up", given: three,
            ["-m", "10", "-H", "Accept: text/event-stream", "{ns}/changes?since=0"], 200,
            fields: ["content-type": "text/event-stream", "x-accel-buffering": "no", "cache-control": "no-store"],
            body: ["id: {cursor}", "event: changes", #"data: {"changes":[{"key":"c/1""#]),
        .problem("no cursor at all", ["{ns}/changes"], 400, "invalid-cursor", body: ["since"]),
        .problem("an invalid cursor", ["{ns}/changes?since=yesterday"], 400, "invalid-cursor", body: ["yesterday"]),
        .problem("another epoch", given: three, ["{ns}/changes?since=zzz-1"], 410, "epoch-changed"),
        .problem("a cursor that is ahead", given: three, ["{ns}/changes?since={cursor}0"], 410, "cursor-ahead"),
        .problem("a wait that is too long", ["{ns}/changes?since=0&wait=61"], 400, "invalid-request", body: ["wait", "60"]),
        .problem("a switch that is none", ["{ns}/changes?since=0&values=perhaps"], 400, "invalid-request", body: ["values"]),
        .problem("a filter that cannot be", ["{ns}/changes?since=0&collection=a%20b"], 400, "invalid-key"),
    ]

    static let operation: [CurlCase] = [
        CurlCase("what it is", ["{root}/v1"], 200, body: ["freshet"]),
        CurlCase(
            "a namespace", given: three, ["{ns}"], 200,
            body: [#""head":3"#, #""records":3"#, #""bytes":3"#, #""waiting":0"#, #""epoch":""#]),
        CurlCase("a namespace that nobody has used", ["{ns}"], 200, body: [#""head":0"#, #""records":0"#]),
        CurlCase("dropping a namespace", given: three, ["-X", "DELETE", "{ns}"], 200),
        .problem(
            "a cursor before the drop", given: three + [["-X", "DELETE", "{ns}"]], ["{ns}/changes?since=0000000000000-1"], 410,
            "epoch-changed"),
        CurlCase("it runs", ["{root}/healthz"], 200),
        CurlCase("it can commit", ["{root}/readyz"], 200),
        CurlCase(
            "metrics for Prometheus", ["{root}/metrics"], 200, fields: ["content-type": "text/plain; version=0.0.4"],
            body: ["# TYPE freshet_"]),
        CurlCase("OpenAPI", ["{root}/openapi.json"], 200, fields: ["content-type": "application/json"], body: [#""openapi": "3.1"#]),
        CurlCase("which methods there are", ["-X", "OPTIONS", "{root}/v1"], 204, fields: ["allow": "GET"]),
        .problem("a path that is none", ["{root}/v2/x"], 404, "not-found"),
        .problem("a namespace that cannot be", ["{root}/v1/NO"], 400, "invalid-key", body: ["NO"]),
        .problem("a path that is no UTF-8", ["{root}/v1/a/records/c/%FF"], 400, "malformed-request"),
        .problem("a path with NUL", ["{root}/v1/a/records/c/%00"], 400, "malformed-request"),
        .problem("a URI that is too long", ["{root}/v1/a/records/c/1?\(String(repeating: "x", count: 9_000))"], 414, "too-large"),
        .problem("a header that is too long", ["-H", "X: \(String(repeating: "x", count: 20_000))", "{root}/v1"], 431, "too-large"),
        .problem("an unknown method", ["-X", "BREW", "{root}/v1"], 501, "malformed-request"),
        .problem(
            "an unknown transfer coding", ["-X", "POST", "-H", "Transfer-Encoding: gzip", "{root}/v1/a/writes"], 501,
            "malformed-request"),
    ]
}
