import FreshetWire

/// Writes replayed over a value (rule 7). JSON is taken apart once for all of them.
struct Overlay {
    private enum Form {
        case unknown
        case absent
        case content(Content)
        case document(JSONDocument)
    }

    private var form: Form

    init(_ entry: Entry?) {
        form = if let entry { entry.content.map(Form.content) ?? .absent } else { .unknown }
    }

    /// Over a value that is known for itself; `nil` for no record.
    init(_ content: Content?) { form = content.map(Form.content) ?? .absent }

    var value: KeyView.Value {
        switch form {
        case .unknown: .unknown
        case .absent: .absent
        case .content(let content): .content(content)
        case .document(let document): .content(Content(bytes: document.bytes, type: Content.json))
        }
    }

    /// Replays the operation.
    /// - Throws: ``SyncFailure/cannotApply(_:)`` where the value cannot take it; it stays as it is then.
    mutating func apply(_ operation: WriteOperation) throws(SyncFailure) {
        switch operation {
        case .put(let content): form = .content(content)
        case .delete: form = .absent
        case .patch(let patch):
            switch form {
            // What nobody knows cannot be shown; the server will merge it.
            case .unknown: break
            case .absent: throw .cannotApply("a patch needs a record; there is none, so put one")
            case .content, .document: form = .document(try document("patched").merging(try Self.parse(patch)))
            }
        case .increment(let path, let amount):
            do {
                switch form {
                case .unknown: break
                case .absent: form = .document(try JSONDocument.incrementingNothing(path, by: amount))
                case .content, .document: form = .document(try document("incremented").incrementing(path, by: amount))
                }
            } catch let error as WireError {
                throw .cannotApply(error.description)
            } catch let error as SyncFailure {
                throw error
            } catch {
                throw .cannotApply("\(error)")
            }
        }
    }

    private func document(_ verb: String) throws(SyncFailure) -> JSONDocument {
        switch form {
        case .document(let document): return document
        case .content(let content) where content.isJSON: return try Self.parse(content.bytes)
        case .content(let content): throw .cannotApply("the value is \(content.type): only application/json can be \(verb)")
        case .unknown, .absent: throw .cannotApply("there is no value that could be \(verb)")
        }
    }

    private static func parse(_ bytes: [UInt8]) throws(SyncFailure) -> JSONDocument {
        do { return try JSONDocument(bytes) } catch { throw .cannotApply(error.description) }
    }
}
