import FreshetClient
import FreshetWire

/// Writes replayed over a value, without the SDK's own code for it.
struct Replay {
    private(set) var value: KeyView.Value

    init(_ value: KeyView.Value) { self.value = value }

    /// Where the value cannot take the operation, it stays.
    mutating func apply(_ operation: WriteOperation) {
        switch operation {
        case .put(let content): value = .content(content)
        case .delete: value = .absent
        case .patch(let patch):
            guard case .content(let content) = value, content.isJSON else { return }
            change { () throws(WireError) in try JSONDocument(content.bytes).merging(try JSONDocument(patch)) }
        case .increment(let path, let amount):
            switch value {
            case .unknown: return
            case .absent: change { () throws(WireError) in try JSONDocument.incrementingNothing(path, by: amount) }
            case .content(let content):
                change { () throws(WireError) in try JSONDocument(content.bytes).incrementing(path, by: amount) }
            }
        }
    }

    private mutating func change(_ make: () throws(WireError) -> JSONDocument) {
        if let document = try? make() { value = .content(Content(checkedJSON: document.bytes)) }
    }

    static func text(_ content: Content?) -> String {
        content.map { String(decoding: $0.bytes.prefix(200), as: UTF8.self) } ?? "nothing"
    }

    static func text(_ value: KeyView.Value) -> String {
        switch value {
        case .content(let content): text(content)
        case .absent: "no record"
        case .unknown: "unknown"
        }
    }
}
