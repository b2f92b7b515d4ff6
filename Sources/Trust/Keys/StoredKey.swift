/// A key as the server stores it: everything but the secret. Times are milliseconds since 1970.
package struct StoredKey: Hashable, Sendable {
    /// A replaced secret, which is valid for a while longer.
    package struct Previous: Hashable, Sendable {
        package let digest: SHA256Digest
        package let until: Int64

        package init(digest: SHA256Digest, until: Int64) {
            self.digest = digest
            self.until = until
        }
    }

    package let id: KeyIdentifier
    /// A name for people.
    package var name: String
    package var rights: Rights
    /// Whether the key may use the admin listener.
    package var isAdmin: Bool
    package let created: Int64
    package var expires: Int64?
    package var isDisabled: Bool
    package private(set) var digest: SHA256Digest
    package private(set) var previous: Previous?
    /// The day of the last use, in days since 1970.
    package private(set) var lastUsed: Int64?

    /// A key that is read from a store.
    package init(
        id: KeyIdentifier, name: String, rights: Rights, isAdmin: Bool, created: Int64, expires: Int64?, isDisabled: Bool,
        digest: SHA256Digest, previous: Previous?, lastUsed: Int64?
    ) {
        (self.id, self.name, self.rights, self.isAdmin) = (id, name, rights, isAdmin)
        (self.created, self.expires, self.isDisabled) = (created, expires, isDisabled)
        (self.digest, self.previous, self.lastUsed) = (digest, previous, lastUsed)
    }

    /// A new key.
    package init(_ key: AccessKey, name: String, rights: Rights, isAdmin: Bool = false, created: Int64, expires: Int64? = nil) {
        self.init(
            id: key.id, name: name, rights: rights, isAdmin: isAdmin, created: created, expires: expires, isDisabled: false,
            digest: key.digest, previous: nil, lastUsed: nil)
    }

    /// Checks a key of this ``id``. An error other than a wrong secret is reported only to a holder of the secret.
    /// - Returns: the moment at which the key ends; `nil` if it has no end.
    package func check(_ key: AccessKey, at now: Int64) throws(KeyRefusal) -> Int64? {
        let given = key.digest
        // Both are compared, so that the time does not state which one matches.
        let (isCurrent, isPrevious) = (given == digest, previous.map { given == $0.digest } ?? false)
        guard key.id == id, isCurrent || isPrevious else { throw .unknown }
        guard !isDisabled else { throw .disabled }
        if let expires, now >= expires { throw .expired(expires) }
        guard !isCurrent, let previous else { return expires }
        guard now < previous.until else { throw .replaced(previous.until) }
        return min(previous.until, expires ?? .max)
    }

    /// Replaces the secret. The key keeps its id and so its principal; the former secret is valid for `overlap`
    /// milliseconds more, and one before that is no longer.
    package mutating func rotate(to key: AccessKey, overlap: Int64, at now: Int64) {
        let (end, overflows) = now.addingReportingOverflow(max(0, overlap))
        previous = Previous(digest: digest, until: overflows ? .max : end)
        digest = key.digest
    }

    /// Notes a use, and returns whether the day has changed and the key has to be stored.
    package mutating func noteUse(at now: Int64) -> Bool {
        let day = now / 86_400_000
        guard day > lastUsed ?? -1 else { return false }
        lastUsed = day
        return true
    }
}

/// Why a key is refused.
package enum KeyRefusal: Error, Hashable, Sendable {
    /// No such id, or another secret.
    case unknown
    case disabled
    /// Since that moment.
    case expired(Int64)
    /// The secret was replaced, and the overlap ended at that moment.
    case replaced(Int64)
}
