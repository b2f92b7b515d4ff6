internal import FreshetPlatform
public import FreshetWire

/// A record as this client shows it at one moment: the confirmed value with this device's pending writes over it.
public struct Snapshot<Value: Sendable>: Identifiable, Sendable {
    /// The record's id in its collection. Two snapshots of ids that only look alike are different.
    public var id: String {
        get { name.text }
        set { name = ByteIdentity.Name(text: newValue) }
    }
    var name: ByteIdentity.Name
    /// The value; `nil` if there is no record, nothing is known, or the value does not decode (see ``decodingError``).
    public var value: Value?
    /// The value's bytes; `nil` if there is no record or nothing is known.
    public var content: Content?
    /// Whether there is a record whose value is not on this device yet. The value is too large to come with the
    /// changes, so a client that follows everything reads it in the background. A read that may use the network
    /// returns it.
    public var lacksValue: Bool
    /// The revision of the confirmed record underneath; `nil` if none is known.
    public var revision: Revision?
    /// Whether a write of this device to the record has no outcome yet.
    public var isPending: Bool
    /// The source of the value.
    public var source: SnapshotSource
    /// How far the confirmed value underneath can be relied on; `nil` if there is none.
    public var freshness: SnapshotFreshness?
    /// When the record was written, by the server's clock.
    public var modified: Timestamp?
    /// Why ``value`` is missing although there is a record.
    public var decodingError: ClientError?

    /// Whether there is a record, decodable or not.
    public var exists: Bool { content != nil || lacksValue }
    /// Whether anything is known: that the record exists, or that it does not.
    public var isKnown: Bool { source != .unknown }
    /// When the server last confirmed the value, by this device's wall clock; `nil` if never.
    public var verified: Timestamp?
}

extension Snapshot: Equatable where Value: Equatable {}

extension Snapshot: Hashable where Value: Hashable {}

extension Snapshot: CustomStringConvertible {
    /// One line for a person, such as `7: Note(text: "Hello"), at revision 3, from feed, live`. A long value is cut.
    public var description: String {
        var text = "\(id): \(value.map { "\($0)".shortened } ?? contentSummary)"
        for part in details { text += ", \(part)" }
        if let decodingError { text += "; \(decodingError)" }
        return text
    }

    /// A summary of the value without decoding it.
    var contentSummary: String {
        if lacksValue { return "a record whose value is not here yet" }
        return switch (isKnown, content) {
        case (false, nil): "unknown"
        case (true, nil): "no record"
        case (_, let content?): "\(content.bytes.count) bytes of \(content.type)"
        }
    }

    /// Revision, source and freshness, each as a part of a sentence.
    var details: [String] {
        var parts: [String] = []
        if let revision { parts.append("at revision \(revision)") }
        if isKnown { parts.append("from \(source.rawValue)") }
        if isPending { parts.append("pending") }
        switch freshness {
        case .live?: parts.append("live")
        case .confirmed(let time)?: parts.append("confirmed at \(time)")
        case .unverified(let time)?: parts.append("unverified since \(time)")
        case nil: break
        }
        return parts
    }
}
