internal import FreshetPlatform
import FreshetSocketHTTP
import FreshetTrust
import FreshetWire

/// The body of `POST /admin/revocations`: the tokens of a subject, one token, the earlier tokens of an issuer, or the client
/// certificates of a name.
struct RevocationRequest: Sendable {
    /// The longest `issuer`, in bytes.
    static let longestIssuer = 1_024
    /// The longest `subject` and `jti`, in bytes: as of tokens.
    static let longestName = 128
    /// How far ahead `issuedBefore` may be, for issuers whose clock is: an hour, in milliseconds. Tokens that are issued until
    /// then are revoked too.
    static let furthest: Int64 = 3_600_000

    let revocation: Revocation

    /// - Parameters:
    ///   - issuers: those of the configuration. Another one has no tokens, and is most likely misspelt.
    ///   - now: milliseconds since 1970.
    /// - Throws: `invalid-request` with the member that is wrong.
    init(json: [UInt8], issuers: [String], now: Int64) throws {
        var (issuer, subject, tokenID, certificate): (String?, String?, String?, String?) = (nil, nil, nil, nil)
        var issuedBefore: Int64?
        var margin: Int64 = 0
        var reader = JSONReader(json, profile: .interoperable)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            switch member {
            case "issuer": issuer = try Self.name(&reader, "issuer", longest: Self.longestIssuer)
            case "subject": subject = try Self.name(&reader, "subject", longest: Self.longestName)
            case "jti": tokenID = try Self.name(&reader, "jti", longest: Self.longestName)
            case "certificate": certificate = try Self.certificateName(&reader)
            case "issuedBefore": issuedBefore = try reader.integer()
            case "margin": margin = try reader.integer()
            default:
                throw Problem(
                    .invalidRequest,
                    "A revocation has no member '\(member.text.shortened)': it takes issuer, subject, jti, certificate, issuedBefore and margin."
                )
            }
        }
        try reader.end()
        if let issuedBefore, !(1...now + Self.furthest).contains(issuedBefore) {
            throw Problem(.invalidRequest, "'issuedBefore' is \(issuedBefore): it takes milliseconds since 1970, at most an hour from now.")
        }
        if let issuer, !issuers.contains(where: { ByteIdentity.areEqual($0, issuer) }) {
            let known = issuers.isEmpty ? "none" : issuers.prefix(16).map { "'\($0.shortened)'" }.joined(separator: ", ")
            throw Problem(.invalidRequest, "'issuer' is '\(issuer.shortened)', and the configuration has \(known).")
        }
        guard (0...Revocation.maximumMargin / 1_000).contains(margin) else {
            throw Problem(.invalidRequest, "'margin' is \(margin): it takes 0 to \(Revocation.maximumMargin / 1_000) seconds.")
        }
        let target: Revocation.Target? =
            switch (tokenID, issuer, subject, certificate) {
            case (let id?, nil, nil, nil) where issuedBefore == nil: .token(id)
            case (nil, let issuer?, let subject?, nil): .principal(Principal(issuer: issuer, subject: subject))
            case (nil, let issuer?, nil, nil) where issuedBefore != nil: .issuer(issuer)
            case (nil, nil, nil, let name?): .principal(Principal(certificateName: name))
            default: nil
            }
        guard let target else {
            throw Problem(
                .invalidRequest,
                "A revocation takes one of these: 'jti'; 'issuer' and 'subject'; 'issuer' and 'issuedBefore'; 'certificate'. 'issuedBefore' is "
                    + "the present time for a subject or a certificate that states none.")
        }
        revocation = Revocation(target, issuedBefore: issuedBefore ?? now, created: now, margin: margin * 1_000)
    }

    /// A name as a person writes it: that of the certificate, or the principal.
    private static func certificateName(_ reader: inout JSONReader) throws -> String {
        let text = try reader.string()
        let start = Principal.certificateStart
        guard let name = ClientCertificate.canonicalName(text.hasPrefix(start) ? String(text.dropFirst(start.count)) : text) else {
            throw Problem(
                .invalidRequest,
                "'certificate' is '\(text.shortened)': it takes the name in a client certificate, 1 to 128 visible characters of ASCII without "
                    + "* and |, such as till-7.example.org.")
        }
        return name
    }

    private static func name(_ reader: inout JSONReader, _ member: String, longest: Int) throws -> String {
        let text = try reader.string()
        guard !text.isEmpty, text.utf8.count <= longest, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            member != "issuer" || !text.utf8.contains(UInt8(ascii: "|"))
        else {
            let bar = member == "issuer" ? " and '|'" : ""
            throw Problem(.invalidRequest, "'\(member)' takes 1 to \(longest) bytes without control characters\(bar).")
        }
        return text
    }
}

extension Revocation {
    /// How long the row of a revocation is kept after its end: the longest life of a token that a configuration may allow, 30
    /// days in milliseconds.
    static let retention: Int64 = 2_592_000_000

    /// The row of the store. One of a target replaces another.
    var accessRow: AccessRow {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("issuedBefore", issuedBefore)
        writer.member("created", created)
        writer.member("margin", margin)
        writer.endObject()
        return AccessRow(.revocation, name: "\(row.kind):\(row.name)", value: writer.bytes)
    }

    /// Reads a row; `nil` for one that this version cannot read.
    init?(_ row: AccessRow) {
        guard row.kind == .revocation, let colon = row.name.firstIndex(of: ":"), let read = try? RevocationRow(row.value) else {
            return nil
        }
        self.init(
            kind: String(row.name[..<colon]), name: String(row.name[row.name.index(after: colon)...]), issuedBefore: read.issuedBefore,
            created: read.created, margin: read.margin)
    }

    /// What the revocation is about, for the audit log.
    var auditText: String { "\(row.kind) \(row.name), issued before \(Timestamp(milliseconds: issuedBefore))" }

    /// The revocation as an administrator sees it.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch target {
        case .key(let id): writer.member("key", id.text)
        case .token(let id): writer.member("jti", id)
        case .issuer(let name): writer.member("issuer", name)
        case .principal(let principal):
            if let name = principal.certificateName {
                writer.member("certificate", name)
                break
            }
            // An issuer has no bar.
            let parts = principal.text.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
            writer.member("issuer", String(parts[0]))
            if parts.count > 1 { writer.member("subject", String(parts[1])) }
        }
        writer.member("issuedBefore", issuedBefore)
        writer.member("created", created)
        if margin > 0 { writer.member("margin", margin / 1_000) }
        writer.endObject()
    }
}

/// The members of a stored revocation.
private struct RevocationRow {
    var (issuedBefore, created, margin): (Int64, Int64, Int64) = (0, 0, 0)

    init(_ json: [UInt8]) throws(WireError) {
        var reader = JSONReader(json)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            switch member {
            case "issuedBefore": issuedBefore = try reader.integer()
            case "created": created = try reader.integer()
            case "margin": margin = try reader.integer()
            default: try reader.skip()
            }
        }
        try reader.end()
        // Sums of these must not overflow.
        guard (0...Revision.maximum.number).contains(issuedBefore), (0...Revision.maximum.number).contains(created) else {
            throw .unexpectedJSON("the times of a revocation are out of range")
        }
    }
}
