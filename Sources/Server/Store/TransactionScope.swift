package import FreshetWire

/// What a transaction is about to read and write, so that a store behind a network can lock and fetch it with few messages.
///
/// A scope is a forecast and no limit. The transaction may use rows that it does not name, which costs such a store a
/// further read, and never gives another answer. It may also leave alone what it names.
package struct TransactionScope: Hashable, Sendable {
    /// A record under whose key the transaction looks, whether there is one or not.
    package struct Record: Hashable, Sendable {
        package var namespace: Namespace
        package var key: RecordKey
        /// Whether the value is read, as by a patch. Of the others the store needs revision, size, type and time.
        package var wantsValue: Bool

        package init(namespace: Namespace, key: RecordKey, wantsValue: Bool = false) {
            self.namespace = namespace
            self.key = key
            self.wantsValue = wantsValue
        }
    }

    /// A device whose last number and owner are read.
    package struct Client: Hashable, Sendable {
        package var namespace: Namespace
        package var client: ClientIdentifier
        /// The numbers whose outcomes are read if they are decided already. As a rule none is.
        package var numbers: ClosedRange<Int64>

        package init(namespace: Namespace, client: ClientIdentifier, numbers: ClosedRange<Int64>) {
            self.namespace = namespace
            self.client = client
            self.numbers = numbers
        }
    }

    /// The namespaces, each once, by the bytes of their names, and those of ``records`` and ``clients`` among them. Locks
    /// that are taken in one order by all do not wait for each other in a circle.
    package let namespaces: [Namespace]
    /// The records, each once, in the order of their first use.
    package let records: [Record]
    /// The devices, each once, in the order of their first use.
    package let clients: [Client]
    /// Whether the transaction may touch any namespace, and rows that belong to none: which ones is not known
    /// beforehand.
    package let isWholeStore: Bool
    /// Whether the transaction changes access rows. It then has to lock them before anything else, so that no two
    /// transactions wait for each other in a circle.
    package let changesAccess: Bool
    /// The most bytes of a value that is read; a longer one is refused by its size.
    package let valueLimit: Int
    /// About how many bytes of values are read in all: the transaction ends when it has touched as many, and leaves the
    /// rest to the next one.
    package let room: Int

    /// Merges records and devices that are named repeatedly, and adds their namespaces.
    package init(
        namespaces: [Namespace] = [], records: [Record] = [], clients: [Client] = [], isWholeStore: Bool = false,
        changesAccess: Bool = false, valueLimit: Int = .max, room: Int = .max
    ) {
        var names = Set(namespaces)
        (self.records, self.clients) = (Self.merged(records, &names), Self.merged(clients, &names))
        self.namespaces = names.sorted()
        self.isWholeStore = isWholeStore
        self.changesAccess = changesAccess
        self.valueLimit = valueLimit
        self.room = room
    }

    /// Of a transaction that may touch anything.
    package static let wholeStore = TransactionScope(isWholeStore: true, changesAccess: true)

    private static func merged(_ records: [Record], _ names: inout Set<Namespace>) -> [Record] {
        var merged: [Record] = []
        merged.reserveCapacity(records.count)
        var places = [RecordAddress: Int](minimumCapacity: records.count)
        for record in records {
            names.insert(record.namespace)
            let address = record.address
            if let place = places[address] {
                if record.wantsValue { merged[place].wantsValue = true }
            } else {
                places[address] = merged.count
                merged.append(record)
            }
        }
        return merged
    }

    private static func merged(_ clients: [Client], _ names: inout Set<Namespace>) -> [Client] {
        var merged: [Client] = []
        struct Name: Hashable {
            var namespace: Namespace
            var client: ClientIdentifier
        }
        var places: [Name: Int] = [:]
        for client in clients {
            names.insert(client.namespace)
            let name = Name(namespace: client.namespace, client: client.client)
            if let place = places[name] {
                let (known, other) = (merged[place].numbers, client.numbers)
                merged[place].numbers = min(known.lowerBound, other.lowerBound)...max(known.upperBound, other.upperBound)
            } else {
                places[name] = merged.count
                merged.append(client)
            }
        }
        return merged
    }
}

extension TransactionScope.Record {
    package var address: RecordAddress { RecordAddress(namespace: namespace, key: key) }
}
