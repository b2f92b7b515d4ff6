/// A list of a collection from the server.
package struct ListRequest: Hashable, Sendable {
    package enum Purpose: Hashable, Sendable {
        /// The ids alone. Records are read only where the server and the device differ about their existence.
        case ids
        /// The records. Those that the device holds as the server lists them are not read, unless all of them must be new.
        case records(mustBeNew: Bool)
        /// The records that are to be on the disk for the observers of a collection. Such a list is repeated until it succeeds.
        case observers
    }

    package var callerID: CallerID
    package var collection: String
    package var purpose: Purpose

    package init(callerID: CallerID, collection: String, purpose: Purpose) {
        self.callerID = callerID
        self.collection = collection
        self.purpose = purpose
    }
}
