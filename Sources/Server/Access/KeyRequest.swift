import FreshetTrust
import FreshetWire

/// The body of `POST /admin/keys`.
struct KeyRequest: Sendable {
    static let longestName = 128

    let name: String
    let rights: Rights
    let isAdmin: Bool
    /// Milliseconds since 1970.
    let expires: Int64?

    /// - Throws: `invalid-request` with the member that is wrong.
    init(json: [UInt8]) throws {
        var (name, allow, isAdmin, expires): (String?, [UInt8], Bool, Int64?) = (nil, [], false, nil)
        var reader = JSONReader(json, profile: .interoperable)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            switch member {
            case "name": name = try reader.string()
            case "allow": allow = try reader.rawValue()
            case "admin": isAdmin = try reader.boolean()
            case "expires": expires = try reader.takeNull() ? nil : try reader.integer()
            default:
                throw Problem(.invalidRequest, "A key has no member '\(member.text.shortened)': it takes name, allow, admin and expires.")
            }
        }
        try reader.end()
        guard let name, !name.isEmpty, name.utf8.count <= Self.longestName, !name.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw Problem(.invalidRequest, "'name' takes 1 to \(Self.longestName) bytes without control characters.")
        }
        if let expires, expires <= 0 { throw Problem(.invalidRequest, "'expires' takes milliseconds since 1970, or null.") }
        self.name = name
        self.isAdmin = isAdmin
        self.expires = expires
        guard !allow.isEmpty else {
            guard isAdmin else {
                throw Problem(
                    .invalidRequest, #"'allow' is missing: it takes grants such as [{"ns":"shop","in":["articles"],"may":["read"]}]."#)
            }
            rights = .all
            return
        }
        do { rights = try Rights(json: allow) } catch { throw Problem(.invalidRequest, "'allow' is wrong: \(error.description)") }
    }

    /// Makes the key, and the form in which it is stored.
    ///
    /// - Parameter created: milliseconds since 1970.
    func key(created: Int64, using random: inout SystemRandomNumberGenerator) -> (key: AccessKey, stored: StoredKey) {
        let key = AccessKey(using: &random)
        return (key, StoredKey(key, name: name, rights: rights, isAdmin: isAdmin, created: created, expires: expires))
    }
}
