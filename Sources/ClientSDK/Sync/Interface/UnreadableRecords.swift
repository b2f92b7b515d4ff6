package import FreshetWire

/// The records that a device may not read any more, as the entry operations of a transaction report them: all those before
/// the greatest revision leave.
///
/// They leave the rejected writes too, of which each keeps the record that it met. A rejection itself stays: it is the user's.
package struct UnreadableRecords {
    private var keys: Set<RecordKey> = []
    private var scopes: [InvalidationScope] = []
    private var endsPass = false

    /// Returns `nil` if the operations report none. O(operations).
    package init?(_ operations: [EntryOperation]) {
        // By index: an operation is as large as several strings, and iterating over the array would copy each.
        for index in operations.indices {
            switch operations[index] {
            case .evict(.key(let key), let position) where position.revision == .maximum: keys.insert(key)
            case .evict(let scope, let position) where position.revision == .maximum: scopes.append(scope)
            case .finishPass(_, let position) where position.revision == .maximum: endsPass = true
            default: break
            }
        }
        guard endsPass || !keys.isEmpty || !scopes.isEmpty else { return nil }
    }

    /// Whether a rejected write must lose the record of its key.
    ///
    /// - Parameter isHeld: whether the device has an entry of the key after the operations. The end of a pass from the
    ///   start shows that it may read all that it has.
    package func include(_ key: RecordKey, isHeld: Bool) -> Bool {
        keys.contains(key) || endsPass && !isHeld || scopes.contains { $0.contains(key) }
    }
}
