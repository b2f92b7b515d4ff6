/// One write of a device, numbered so that it takes effect exactly once.
package struct Write: Hashable, Sendable {
    /// The name and the number under which a write was refused as `number-taken`, before it got its present ones.
    package struct Origin: Hashable, Sendable {
        package var client: ClientIdentifier
        /// From 1 to 2^53−1.
        package var number: Int64

        package init(client: ClientIdentifier, number: Int64) {
            self.client = client
            self.number = number
        }
    }

    /// 1, 2, 3 … for each device and namespace, for ever; at most 2^53−1. A number names this write in every history.
    package var number: Int64
    /// The record to which the write applies.
    package var key: RecordKey
    /// The operation on the record.
    package var operation: WriteOperation
    /// Applies the write only if the record is at this revision; ``Revision/zero``: only if there is none.
    package var ifRevision: Revision?
    /// A random number from 1 to 2^53−1 that distinguishes the write from another of the same client and number, as of
    /// a copied device.
    package var nonce: Int64?
    /// The first name and number of a write that has others now. In another history a copy of the device may have had
    /// the write decided under them. Without a nonce it has no effect.
    package var origin: Origin?

    /// A write.
    package init(
        number: Int64, key: RecordKey, operation: WriteOperation, ifRevision: Revision? = nil, nonce: Int64? = nil, origin: Origin? = nil
    ) {
        self.number = number
        self.key = key
        self.operation = operation
        self.ifRevision = ifRevision
        self.nonce = nonce
        self.origin = origin
    }
}
