/// A rejected write on disk, without its contents.
package struct RejectionEntry: Hashable, Sendable {
    package var writeID: LocalWriteID
    /// ``RejectedWrite/size``.
    package var size: Int

    package init(writeID: LocalWriteID, size: Int) {
        self.writeID = writeID
        self.size = size
    }
}
