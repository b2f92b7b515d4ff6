internal import FreshetWire

extension TransactionScope {
    /// Names what the submissions use, in their order.
    ///
    /// - Parameters:
    ///   - valueLimit: see ``TransactionScope/valueLimit``.
    ///   - room: see ``TransactionScope/room``.
    init(of submissions: [Submission], valueLimit: Int, room: Int) {
        var parts = Parts()
        for submission in submissions { submission.add(to: &parts) }
        self.init(
            namespaces: parts.namespaces, records: parts.records, clients: parts.clients, isWholeStore: parts.isWholeStore,
            changesAccess: parts.changesAccess, valueLimit: valueLimit, room: room)
    }

    /// The rows that submissions use, with repetitions.
    struct Parts {
        private(set) var namespaces: [Namespace] = []
        private(set) var records: [Record] = []
        private(set) var clients: [Client] = []
        private(set) var isWholeStore = false
        private(set) var changesAccess = false

        mutating func add(_ operation: WriteOperation, to key: RecordKey, in namespace: Namespace) {
            records.append(Record(namespace: namespace, key: key, wantsValue: operation.readsValue))
        }

        mutating func add(_ numbers: ClosedRange<Int64>, of client: ClientIdentifier, in namespace: Namespace) {
            clients.append(Client(namespace: namespace, client: client, numbers: numbers))
        }

        mutating func add(_ reach: Submission.Reach) {
            switch reach {
            case .nothing: break
            case .namespace(let namespace), .drop(let namespace): namespaces.append(namespace)
            case .batch(let writes, let client, let namespace): add(writes, by: client, in: namespace)
            case .wholeStore: isWholeStore = true
            case .access: (isWholeStore, changesAccess) = (true, true)
            }
        }

        private mutating func add(_ writes: [Write], by client: ClientIdentifier, in namespace: Namespace) {
            namespaces.append(namespace)
            for write in writes {
                add(write.operation, to: write.key, in: namespace)
                // A write that has moved to this client may have an outcome under its first name.
                if let origin = write.origin, write.nonce != nil { add(origin.number...origin.number, of: origin.client, in: namespace) }
            }
            let numbers = writes.lazy.map(\.number)
            if let first = numbers.min(), let last = numbers.max() { add(first...last, of: client, in: namespace) }
        }
    }
}

extension WriteOperation {
    /// Whether the operation makes the new value of the old one.
    fileprivate var readsValue: Bool {
        switch self {
        case .patch, .increment: true
        case .put, .delete: false
        }
    }
}
