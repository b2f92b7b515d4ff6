internal import FreshetWire

/// Grants with placeholders, which a token's claims fill in: `{"ns":"shop","in":["carts/{sub}/*"],"may":["read"]}`.
package struct Role: Hashable, Sendable {
    private let grants: [TemplateGrant]

    private struct TemplateGrant: Hashable, Sendable {
        let namespaces: Template
        let ranges: [Template]
        let verbs: Verbs

        var placeholders: [Template.Placeholder] { ([namespaces] + ranges).flatMap(\.placeholders) }
    }

    /// Reads an array of grants, each checked with a value in place of its placeholders.
    init(_ reader: inout StrictReader) throws(TrustError) {
        var grants: [TemplateGrant] = []
        var remaining = Rights.maximumRanges
        try reader.array(atMost: Rights.maximumGrants, "grants") { reader throws(TrustError) in
            let text = try GrantText(&reader, remaining: &remaining)
            do throws(TemplateError) {
                let namespaces = try Template(text.namespaces)
                var ranges: [Template] = []
                for range in text.ranges { ranges.append(try Template(range)) }
                grants.append(TemplateGrant(namespaces: namespaces, ranges: ranges, verbs: text.verbs))
            } catch { throw reader.fail(error.description) }
            // A value of letters is valid in each name.
            guard let grant = grants.last else { return }
            if case .failure(let error) = Self.grant(grant, { _ in "x" }) { throw reader.fail(error.description) }
        }
        self.grants = grants
    }

    /// The grants with the claims in place of the placeholders.
    func rights(_ claims: Claims) throws(TokenRefusal) -> Rights {
        var grants: [Grant] = []
        for template in self.grants {
            for placeholder in template.placeholders {
                guard let value = placeholder.value(claims) else { throw .missingClaim(placeholder.claim) }
                guard Template.isPart(value) else {
                    throw .invalidRights(
                        "'\(placeholder.claim)' is '\(value.shortened)': a part of a name takes 1 to 128 bytes without * / and control characters"
                    )
                }
            }
            switch Self.grant(template, { $0.value(claims) ?? "" }) {
            case .success(let grant): grants.append(grant)
            case .failure(let error): throw .invalidRights(error.description)
            }
        }
        return Rights(grants)
    }

    /// Whether it has placeholders other than `{sub}`.
    package var needsClaims: Bool { grants.contains { $0.placeholders.contains { $0 != .subject } } }

    /// The grants of a holder without a token: `sub` is the only claim.
    package func rights(ofSubject name: String) throws(TokenRefusal) -> Rights { try rights(Claims(subject: name)) }

    private static func grant(_ template: TemplateGrant, _ value: (Template.Placeholder) -> String) -> Result<Grant, GrantError> {
        GrantText(
            namespaces: template.namespaces.text(value), ranges: template.ranges.map { $0.text(value) }, verbs: template.verbs
        ).grant()
    }
}

/// A text with `{sub}` and `{claim:NAME}`.
struct Template: Hashable, Sendable {
    enum Placeholder: Hashable, Sendable {
        case subject
        case claim(String)

        /// The claim's name.
        var claim: String {
            switch self {
            case .subject: "sub"
            case .claim(let name): name
            }
        }

        func value(_ claims: Claims) -> String? {
            switch self {
            case .subject: claims.subject
            case .claim(let name): claims.text(name)
            }
        }
    }

    private enum Part: Hashable, Sendable {
        case text(String)
        case placeholder(Placeholder)
    }

    private let parts: [Part]

    var placeholders: [Placeholder] {
        parts.compactMap { part in
            guard case .placeholder(let placeholder) = part else { return nil }
            return placeholder
        }
    }

    /// Two tokens with different claims must not make one name. A part of a name between slashes therefore has at most
    /// one placeholder, and none if it ends in a wildcard: `carts/{sub}*` would give `u7` the records of `u70`.
    init(_ text: String) throws(TemplateError) {
        var parts: [Part] = []
        var rest = text.utf8[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
            guard let close = rest[open...].firstIndex(of: UInt8(ascii: "}")) else {
                throw .unknownPlaceholder(String(Substring(rest[open...])))
            }
            let name = String(Substring(rest[rest.index(after: open)..<close]))
            parts.append(.text(String(Substring(rest[..<open]))))
            switch name {
            case "sub": parts.append(.placeholder(.subject))
            case _ where name.utf8.starts(with: "claim:".utf8) && name.utf8.count > 6:
                let claim = String(Substring(name.utf8.dropFirst(6)))
                guard !Claims.registered.contains(claim) else { throw .unknownPlaceholder("{\(name)}") }
                parts.append(.placeholder(.claim(claim)))
            default: throw .unknownPlaceholder("{\(name)}")
            }
            rest = rest[rest.index(after: close)...]
        }
        parts.append(.text(String(Substring(rest))))
        self.parts = parts
        // NUL is in no name, and stands for a placeholder here.
        for segment in self.text({ _ in "\0" }).utf8.split(separator: UInt8(ascii: "/")) {
            let count = segment.count { $0 == 0 }
            guard count < 2 else { throw .ambiguous(text) }
            guard count == 0 || segment.last != UInt8(ascii: "*") else { throw .wildcard(text) }
        }
    }

    func text(_ value: (Placeholder) -> String) -> String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .text(let part): text += part
            case .placeholder(let placeholder): text += value(placeholder)
            }
        }
    }

    /// Whether a claim's value may be a part of a name.
    static func isPart(_ value: String) -> Bool {
        (1...128).contains(value.utf8.count)
            && !value.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "/") }
    }
}

/// Why a text is no template.
enum TemplateError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownPlaceholder(String)
    case ambiguous(String)
    case wildcard(String)

    var description: String {
        switch self {
        case .unknownPlaceholder(let text):
            "'\(text.shortened)' is no placeholder: it takes {sub}, or {claim:NAME} for other claims than \(Claims.registered.joined(separator: ", "))"
        case .ambiguous(let text):
            "'\(text.shortened)' has two placeholders in one part, so that two users could share a name: put a / between them"
        case .wildcard(let text):
            "'\(text.shortened)' has a placeholder and a * in one part, so that a user could reach the records of another: write {sub}/*"
        }
    }
}
