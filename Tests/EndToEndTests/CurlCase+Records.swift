extension CurlCase {
    static let put = ["-X", "PUT", "-H", "Content-Type: application/json", "-d", #"{"name":"Ann","n":1}"#, "{ns}/records/customers/7"]

    static let records: [CurlCase] = [
        CurlCase(
            "PUT creates", put, 201, fields: ["etag": "-1\"", "content-type": "application/json"],
            body: [#""key":"customers/7""#, #""revision":1"#, #""cursor":""#]),
        CurlCase("PUT replaces", given: [put], put, 200, body: [#""revision":2"#]),
        CurlCase(
            "GET gives the very bytes back", given: [put], ["{ns}/records/customers/7"], 200,
            fields: [
                "etag": "{etag}", "last-modified": "GMT", "cache-control": "", "content-type": "application/json", "content-length": "20",
            ],
            body: [#"{"name":"Ann","n":1}"#]),
        CurlCase(
            "HEAD has the fields and no body", given: [put], ["--head", "{ns}/records/customers/7"], 200,
            fields: ["etag": "{etag}", "content-length": "20"]),
        CurlCase(
            "bytes of any type are kept as they are",
            given: [["-X", "PUT", "-H", "Content-Type: text/plain; charset=utf-8", "--data-binary", "not { json", "{ns}/records/notes/1"]],
            ["{ns}/records/notes/1"], 200, fields: ["content-type": "text/plain; charset=utf-8"], body: ["not { json"]),
        CurlCase(
            "an empty value that is not JSON is a value",
            given: [["-X", "PUT", "-H", "Content-Type: text/plain", "--data-binary", "", "{ns}/records/notes/1"]],
            ["{ns}/records/notes/1"], 200, fields: ["content-length": "0"]),
        CurlCase(
            "an id may hold slashes, spaces and any letter",
            given: [["-X", "PUT", "-H", "Content-Type: application/json", "-d", "1", "{ns}/records/c/a%2Fb%20%C3%A9"]],
            ["{ns}/records/c?limit=5"], 200, body: [#""key":"c/a/b é""#]),
        CurlCase(
            "a chunked body is a body",
            ["-X", "PUT", "-H", "Transfer-Encoding: chunked", "-H", "Content-Type: application/json", "-d", "[1]", "{ns}/records/c/1"], 201),
        CurlCase(
            "a client that expects 100 Continue gets it",
            ["-X", "PUT", "-H", "Expect: 100-continue", "-H", "Content-Type: application/json", "-d", "[1]", "{ns}/records/c/1"], 201),
        CurlCase(
            "HTTP/1.0 is served", given: [put], ["--http1.0", "{ns}/records/customers/7"], 200, fields: ["content-length": "20"],
            body: ["Ann"]),
        .problem("GET of nothing", ["{ns}/records/customers/7"], 404, "not-found", body: ["customers/7"]),
        .problem(
            "GET of a deleted record", given: [put, ["-X", "DELETE", "{ns}/records/customers/7"]], ["{ns}/records/customers/7"], 404,
            "not-found"),
        CurlCase("DELETE takes a revision", given: [put], ["-X", "DELETE", "{ns}/records/customers/7"], 200, body: [#""revision":2"#]),
        .problem("DELETE of nothing", ["-X", "DELETE", "{ns}/records/customers/7"], 404, "not-found"),
        CurlCase(
            "PATCH merges", given: [put, patch(#"{"n":null,"city":"Rome"}"#)], ["{ns}/records/customers/7"], 200,
            body: [#"{"name":"Ann","city":"Rome"}"#]),
        .problem("PATCH of nothing", patch("{}"), 404, "not-found"),
        .problem("PATCH that is no JSON", given: [put], patch("{"), 400, "invalid-json", body: ["byte"]),
        .problem(
            "PATCH of another media type", given: [put],
            ["-X", "PATCH", "-H", "Content-Type: application/json-patch+json", "-d", "[]", "{ns}/records/customers/7"], 415,
            "unsupported-media-type",
            body: ["application/merge-patch+json"]),
        .problem(
            "PATCH of a record that is not JSON",
            given: [["-X", "PUT", "-H", "Content-Type: text/plain", "-d", "x", "{ns}/records/customers/7"]], patch("{}"), 415,
            "unsupported-media-type"),
        .problem(
            "PUT that claims JSON and is none",
            ["-X", "PUT", "-H", "Content-Type: application/json", "-d", #"{"a":}"#, "{ns}/records/c/1"], 400, "invalid-json",
            body: ["byte 5"]),
        .problem(
            "a collection that cannot be", ["-X", "PUT", "-H", "Content-Type: application/json", "-d", "1", "{ns}/records/a%20b/1"], 400,
            "invalid-key", body: ["a b"]),
        .problem("an id that is too long", ["{ns}/records/c/\(String(repeating: "x", count: 513))"], 400, "invalid-key", body: ["512"]),
        .problem(
            "a value that is too large",
            ["-X", "PUT", "-H", "Content-Type: text/plain", "-H", "Content-Length: 99999999", "-d", "x", "{ns}/records/c/1"], 413,
            "too-large"),
        .problem(
            "a method that is not for records", ["-X", "POST", "-d", "x", "{ns}/records/c/1"], 405, "method-not-allowed",
            fields: ["allow": "PUT"]),
    ].map(\.withoutCursorBeforeRouting)

    /// The response to a request that no endpoint takes carries no position.
    private var withoutCursorBeforeRouting: CurlCase {
        guard status == 413 || status == 405 else { return self }
        return CurlCase(
            description, given: given, when.map { $0.replacing("{ns}", with: "{root}/v1/elsewhere") }, status, fields: fields, body: body)
    }

    static func patch(_ body: String) -> [String] {
        ["-X", "PATCH", "-H", "Content-Type: application/merge-patch+json", "-d", body, "{ns}/records/customers/7"]
    }

    static let preconditions: [CurlCase] = [
        CurlCase(
            "If-None-Match that matches", given: [put], ["-H", "If-None-Match: {etag}", "{ns}/records/customers/7"], 304,
            fields: ["etag": "{etag}"]),
        CurlCase("If-None-Match in a list, weak", given: [put], ["-H", "If-None-Match: \"x\", W/{etag}", "{ns}/records/customers/7"], 304),
        CurlCase("If-None-Match: * of a record", given: [put], ["-H", "If-None-Match: *", "{ns}/records/customers/7"], 304),
        CurlCase("If-None-Match that does not match", given: [put], ["-H", "If-None-Match: \"abc-9\"", "{ns}/records/customers/7"], 200),
        CurlCase("If-Match that matches", given: [put], ["-H", "If-Match: {etag}"] + put, 200),
        .problem(
            "If-Match that does not", given: [put], ["-H", "If-Match: \"abc-9\""] + put, 412, "precondition-failed",
            body: [#""current":{"key":"customers/7","revision":1,"value":{"name":"Ann","n":1}"#]),
        .problem("If-Match is strong", given: [put], ["-H", "If-Match: W/{etag}"] + put, 412, "precondition-failed"),
        .problem("If-Match: * of nothing", ["-H", "If-Match: *"] + put, 412, "precondition-failed"),
        CurlCase("If-Match: * of a record", given: [put], ["-H", "If-Match: *"] + put, 200),
        CurlCase("If-None-Match: * creates", ["-H", "If-None-Match: *"] + put, 201),
        .problem(
            "If-None-Match: * of a record", given: [put], ["-H", "If-None-Match: *"] + put, 412, "precondition-failed",
            body: ["\"current\""]),
        CurlCase("DELETE if it is as known", given: [put], ["-H", "If-Match: {etag}", "-X", "DELETE", "{ns}/records/customers/7"], 200),
        .problem(
            "DELETE if it is not", given: [put], ["-H", "If-Match: \"abc-9\"", "-X", "DELETE", "{ns}/records/customers/7"], 412,
            "precondition-failed"),
        .problem(
            "PATCH if it is not", given: [put], ["-H", "If-Match: \"abc-9\""] + patch("{}"), 412, "precondition-failed",
            body: ["\"current\""]),
    ]
}
