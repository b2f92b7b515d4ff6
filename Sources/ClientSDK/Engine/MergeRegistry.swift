internal import FreshetWire
internal import Synchronization

/// The merge closures by the name of their collection. Since they are found by name, they also serve writes from
/// before a restart.
final class MergeRegistry: Sendable {
    typealias Closure = @Sendable (MergeRequest) throws -> Resolution

    private let closures = Mutex<[MergeName: Closure]>([:])

    subscript(name: MergeName) -> Closure? { closures.withLock { $0[name] } }

    /// The names of all closures, in order.
    var names: [MergeName] { closures.withLock { $0.keys.sorted { $0.text < $1.text } } }

    /// - Returns: whether the collection had no closure before.
    func set<Value>(_ closure: @escaping MergeClosure<Value>, for collection: String, _ codec: ValueCodec<Value>) -> Bool {
        let wrapped: Closure = { request in
            let conflict = MergeConflict(
                id: request.key.id, base: try request.base.map(codec.decode), mine: try request.mine.map(codec.decode),
                theirs: try request.theirs.map(codec.decode))
            return switch try closure(conflict) {
            case .value(let value): .put(try codec.content(of: value))
            case .remove: .delete
            case .takeTheirs: .takeTheirs
            }
        }
        return closures.withLock { $0.updateValue(wrapped, forKey: MergeName(collection)) == nil }
    }
}
