import FreshetTrust
import FreshetWire

extension StoredKey {
    /// The row of the store. It has no secret, only the secret's hash.
    var row: AccessRow {
        var writer = JSONWriter()
        writer.beginObject()
        writeMembers(to: &writer)
        writer.member("digest", digest.text)
        if let previous {
            writer.member("previous", previous.digest.text)
            writer.member("previousUntil", previous.until)
        }
        writer.endObject()
        return AccessRow(.key, name: id.text, value: writer.bytes)
    }

    /// The key as an administrator sees it.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id.text)
        writeMembers(to: &writer)
        if let previous { writer.member("previousUntil", previous.until) }
        writer.member("lastUsed")
        if let lastUsed { writer.integer(lastUsed * Self.day) } else { writer.null() }
        writer.endObject()
    }

    private func writeMembers(to writer: inout JSONWriter) {
        writer.member("name", name)
        writer.member("allow")
        rights.write(to: &writer)
        writer.member("admin")
        writer.boolean(isAdmin)
        writer.member("created", created)
        writer.member("expires")
        if let expires { writer.integer(expires) } else { writer.null() }
        writer.member("disabled")
        writer.boolean(isDisabled)
    }

    /// Milliseconds.
    private static let day: Int64 = 86_400_000

    /// The row of the last use; `nil` if there was none. A separate one, so that it never replaces a change of the key.
    var useRow: AccessRow? {
        guard let lastUsed else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("day", lastUsed)
        writer.endObject()
        return AccessRow(.use, name: id.text, value: writer.bytes)
    }

    /// Takes the last use from its row.
    mutating func take(use row: AccessRow) {
        var reader = JSONReader(row.value)
        guard let day = try? reader.integerMember("day"), (0...Int64.max / Self.day).contains(day) else { return }
        _ = noteUse(at: day * Self.day)
    }

    /// Reads a row; `nil` for one that this version cannot read.
    init?(_ row: AccessRow) {
        guard row.kind == .key, let id = KeyIdentifier(row.name), let read = try? StoredKeyRow(row.value),
            let rights = try? Rights(json: read.allow),
            let digest = SHA256Digest(text: read.digest)
        else { return nil }
        let previous = SHA256Digest(text: read.previous)
        self.init(
            id: id, name: read.name, rights: rights, isAdmin: read.isAdmin, created: read.created, expires: read.expires,
            isDisabled: read.isDisabled, digest: digest, previous: previous.map { Previous(digest: $0, until: read.previousUntil) },
            lastUsed: nil)
    }
}

/// The members of a stored key.
private struct StoredKeyRow {
    var name = ""
    var allow: [UInt8] = []
    var isAdmin = false
    var created: Int64 = 0
    var expires: Int64?
    var isDisabled = false
    var digest = ""
    var previous = ""
    var previousUntil: Int64 = 0

    init(_ json: [UInt8]) throws(WireError) {
        var reader = JSONReader(json)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            switch member {
            case "name": name = try reader.string()
            case "allow": allow = try reader.rawValue()
            case "admin": isAdmin = try reader.boolean()
            case "created": created = try reader.integer()
            case "expires": expires = try reader.takeNull() ? nil : try reader.integer()
            case "disabled": isDisabled = try reader.boolean()
            case "digest": digest = try reader.string()
            case "previous": previous = try reader.string()
            case "previousUntil": previousUntil = try reader.integer()
            default: try reader.skip()
            }
        }
        try reader.end()
    }
}

extension JSONReader {
    /// The integer of one member of an object.
    fileprivate mutating func integerMember(_ name: String) throws(WireError) -> Int64? {
        var found: Int64?
        try beginObject()
        while let member = try nextMember() { if member.text == name { found = try integer() } else { try skip() } }
        return found
    }
}

extension SHA256Digest {
    fileprivate var text: String { String(decoding: Base64URL.encode(bytes), as: UTF8.self) }

    /// `nil` for any other text than that of a digest.
    fileprivate init?(text: String) {
        guard let bytes = Base64URL.decode(text.utf8) else { return nil }
        self.init(stored: bytes)
    }
}
