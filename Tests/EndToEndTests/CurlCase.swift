/// One request that a real `curl` makes, the requests that prepare for it, and the expected answer.
struct CurlCase: Sendable, CustomStringConvertible {
    let description: String
    /// Preparatory requests; each must succeed.
    var given: [[String]] = []
    /// Arguments of `curl`. `{ns}` stands for `http://…/v1/<a namespace of the case's own>`, `{root}` for the server,
    /// `{etag}`, `{cursor}` for the `ETag` and `Freshet-Cursor` in the last answer of `given`, `{epoch}` for the
    /// cursor's epoch.
    let when: [String]
    let status: Int
    /// The required fields, by lower-case name: the value, or a part of it; an empty text requires only the field.
    var fields: [String: String] = [:]
    /// Texts that the body must contain.
    var body: [String] = []

    init(
        _ description: String, given: [[String]] = [], _ when: [String], _ status: Int, fields: [String: String] = [:], body: [String] = []
    ) {
        self.description = description
        self.given = given
        self.when = when
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A problem answer: `application/problem+json`, never stored, with a type and a detail.
    static func problem(
        _ description: String, given: [[String]] = [], _ when: [String], _ status: Int, _ code: String, fields: [String: String] = [:],
        body: [String] = []
    ) -> CurlCase {
        let fields = fields.merging(["content-type": "application/problem+json", "cache-control": "no-store"]) { own, _ in own }
        return CurlCase(
            description, given: given, when, status, fields: fields,
            body: ["\"urn:freshet:problem:\(code)\"", "\"detail\":\"", "\"status\":\(status)"] + body)
    }
}
