import ArgumentParser
import FreshetClient
import FreshetServer
import FreshetTransport
import FreshetWire
import HTTPTypes

/// `freshet revoke`: the tokens of identity providers, before they expire.
struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Revoke tokens of a user or of an identity provider, or client certificates.",
        discussion: """
            When the command returns, no write of a revoked token is applied any more, and its waiting requests have ended,
            or end after --margin: an app that has another token by then misses nothing.
            A certificate that is valid from a later time on is not revoked by it.
            Keys are revoked with 'freshet key revoke'.

            EXAMPLES
              freshet revoke --token-file operator.key --issuer https://id.example.org --subject u7
              freshet revoke --token-file operator.key --jti 4f1c9d
              freshet revoke --token-file operator.key --issuer https://id.example.org --issued-before 2026-11-25T12:00:00Z
              freshet revoke --token-file operator.key --certificate till-7.example.org
              freshet revoke --token-file operator.key --list
            """)

    @Option(help: ArgumentHelp("The identity provider of the tokens: their 'iss', and one of the server's issuers.", valueName: "issuer"))
    var issuer: String?
    @Option(help: ArgumentHelp("The user of the tokens: their 'sub'.", valueName: "subject")) var subject: String?
    @Option(help: ArgumentHelp("One token: its 'jti'.", valueName: "id")) var jti: String?
    @Option(help: ArgumentHelp("The client certificates of a name, such as till-7.example.org.", valueName: "name"))
    var certificate: String?
    @Option(
        help: ArgumentHelp(
            "Only tokens that were issued before this time, at most an hour ahead, such as 2026-11-25T12:00:00Z. (default: now, for a subject or a certificate)",
            valueName: "time")
    )
    var issuedBefore: String?
    @Option(
        help: ArgumentHelp(
            "How long requests that wait already may wait on, at most 1h, such as 30s. New requests are refused at once. (default: 0s)",
            valueName: "time")) var margin: String?
    @Flag(help: "Show the newest revocations instead.") var list = false
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        guard list || !output.json else { throw ValidationError("--json goes with --list") }
        if let issuedBefore, Self.time(issuedBefore) == nil {
            throw ValidationError("--issued-before takes a time such as 2026-11-25T12:00:00Z, not '\(issuedBefore)'")
        }
        if let margin, DurationArgument(margin).map({ $0.seconds > 3_600 }) ?? true {
            throw ValidationError("--margin takes \(DurationArgument.form), at most 1h, not '\(margin)'")
        }
        let isValid =
            switch (list, jti, issuer, subject, certificate) {
            case (true, nil, nil, nil, nil): issuedBefore == nil && margin == nil
            case (false, _?, nil, nil, nil): issuedBefore == nil
            case (false, nil, _?, _?, nil): true
            case (false, nil, _?, nil, nil): issuedBefore != nil
            case (false, nil, nil, nil, _?): true
            default: false
            }
        guard isValid else {
            throw ValidationError("one of these: --issuer with --subject, --issuer with --issued-before, --jti, --certificate, --list")
        }
    }

    /// A time with or without milliseconds.
    private static func time(_ text: String) -> Timestamp? {
        Timestamp(text) ?? Timestamp(text.dropLast(text.hasSuffix("Z") ? 1 : 0) + ".000Z")
    }

    func run() async throws {
        let remote = try options.operatorRemote()
        guard !list else {
            let reply = try await remote.reply(.get, "/admin/revocations")
            return try KeyLines.show(reply.body, as: output, by: KeyLines.revocations)
        }
        var writer = JSONWriter()
        writer.beginObject()
        if let issuer { writer.member("issuer", issuer) }
        if let subject { writer.member("subject", subject) }
        if let certificate { writer.member("certificate", certificate) }
        if let jti { writer.member("jti", jti) }
        if let time = issuedBefore.flatMap(Self.time) { writer.member("issuedBefore", time.milliseconds) }
        if let margin = margin.flatMap({ DurationArgument($0) }) { writer.member("margin", margin.seconds) }
        writer.endObject()
        // A repetition revokes the same tokens, or those that were issued in the meantime.
        _ = try await remote.reply(
            .post, "/admin/revocations", fields: [.contentType: Content.json], body: writer.bytes, isRepeatable: true)
    }
}
