import FreshetWire

/// Writes replayed over a value (rule 7). JSON is parsed once for all of them.
struct Overlay {
    private enum Form {
        case unknown
        case absent
        /// A record whose value is not on this device.
        case elsewhere
        case content(Content)
        case document(JSONDocument)
    }

    private var form: Form

    init(_ entry: Entry?) {
        form =
            switch KeyView.Value(entry) {
            case .unknown: .unknown
            case .absent: .absent
            case .elsewhere: .elsewhere
            case .content(let content): .content(content)
            }
    }

    /// Creates an overlay over a value without an entry; `nil` for no record.
    init(_ content: Content?) { form = content.map(Form.content) ?? .absent }

    /// Whether there is a record, as far as is known. O(1), whereas ``value`` serializes a changed document.
    var isRecord: Bool {
        switch form {
        case .elsewhere, .content, .document: true
        case .unknown, .absent: false
        }
    }

    var value: KeyView.Value {
        switch form {
        case .unknown: .unknown
        case .absent: .absent
        case .elsewhere: .elsewhere
        case .content(let content): .content(content)
        case .document(let document): .content(Content(bytes: document.bytes, type: Content.json))
        }
    }

    /// Replays the operation.
    /// - Throws: ``SyncFailure/cannotApply(_:)`` where the value cannot take it; the value is unchanged then.
    mutating func apply(_ operation: WriteOperation) throws(SyncFailure) {
        switch operation {
        case .put(let content): form = .content(content)
        case .delete: form = .absent
        case .patch(let patch):
            switch form {
            // A value that is not on this device cannot be shown; the server will merge it.
            case .unknown, .elsewhere: break
            case .absent: throw .cannotApply("a patch needs a record; there is none, so put one")
            case .content, .document: form = .document(try document("patched").merging(try Self.parse(patch)))
            }
        case .increment(let increment):
            switch form {
            case .unknown, .elsewhere: break
            case .absent: form = .document(try Self.made(by: increment, of: nil))
            case .content, .document: form = .document(try Self.made(by: increment, of: try document("incremented")))
            }
        }
    }

    private func document(_ verb: String) throws(SyncFailure) -> JSONDocument {
        switch form {
        case .document(let document): return document
        case .content(let content) where content.isJSON: return try Self.parse(content.bytes)
        case .content(let content): throw .cannotApply("the value is \(content.type): only application/json can be \(verb)")
        case .unknown, .elsewhere, .absent: throw .cannotApply("there is no value that could be \(verb)")
        }
    }

    private static func made(by increment: Increment, of document: JSONDocument?) throws(SyncFailure) -> JSONDocument {
        do throws(IncrementFailure) { return try increment.applied(to: document) } catch { throw .cannotApply(error.description) }
    }

    private static func parse(_ bytes: [UInt8]) throws(SyncFailure) -> JSONDocument {
        do { return try JSONDocument(bytes) } catch { throw .cannotApply(error.description) }
    }
}
