/// One request that a real `curl` makes, after those that prepare for it, and what must come back.
struct CurlCase: Sendable, CustomStringConvertible {
    let description: String
    /// Requests before the one that counts; each must succeed.
    var given: [[String]] = []
    /// Arguments of `curl`. `{ns}` stands for `http://…/v1/<a namespace of the case's own>`, `{root}` for the server,
    /// `{etag}`, `{cursor}` for what the last of `given` answered in `ETag` and `Freshet-Cursor`, `{epoch}` for the cursor's epoch.
    let when: [String]
    let status: Int
    /// What must stand in fields, by lower-case name: the value, or a part of it; empty: just be there.
    var fields: [String: String] = [:]
    /// Parts that the body must have.
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

    /// What every problem must be: `application/problem+json`, never stored, with a type and a detail.
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
