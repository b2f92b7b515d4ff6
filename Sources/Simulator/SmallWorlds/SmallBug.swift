/// Ways to break the implementation of a rule in a small world; see ``InjectedBug``. The shell does what a broken implementation would do.
package enum SmallBug: String, Hashable, Sendable, CaseIterable {
    /// A poll that waits is never answered.
    case loseWakeUp
    /// A device gives up sending after a connection broke.
    case stopSending
    /// The disk stores every record that arrives, newer or not.
    case storeOlder
    /// A write that waits for its merge is replayed over a record that contains it.
    case replayMerging
    /// A restart forgets the outbox.
    case forgetOutbox
    /// A restart forgets which writes the records contain.
    case forgetWatermark
    /// Responses count a write as decided that is not.
    case overstateLastWrite
    /// Responses do not count the write that was decided last.
    case understateLastWrite
    /// Reads pass the fence however old they are.
    case skipFence
    /// An invalidation leaves the entry where it is.
    case ignoreInvalidation
    /// A retried batch is applied as if it were new.
    case forgetNumber
    /// The number of a write is not kept, so the next write gets it again.
    case reuseNumber
    /// The device says that a write is kept before its disk has it.
    case acceptBeforeSync
    /// The response to a write removes it from the overlay.
    case dropOverlay
    /// A page overwrites a pending value in memory.
    case flicker
    /// A write that was sent counts as confirmed.
    case confirmAtSend
    /// A rejected write stays pending.
    case keepRejected
    /// The cursor is stored before the records, in a separate transaction.
    case cursorFirst
    /// A merge patch is stored as if it were the whole value.
    case inventValue
    /// A reset empties the outbox.
    case resetDropsOutbox
    /// A reset verifies nothing.
    case trustAfterReset
    /// A history claims to continue more of the former one than it has.
    case overstateFork
    /// A response that was on its way when the device was cleared is stored all the same.
    case storeAfterClear
    /// Clearing forgets the memory tier.
    case clearDiskOnly
    /// A read joins another one that was sent before it.
    case joinEarlierRead

    /// The name of a world whose events show it.
    package var world: String {
        switch self {
        case .storeAfterClear, .clearDiskOnly, .storeOlder, .forgetWatermark, .understateLastWrite, .skipFence: "clears"
        case .inventValue: "documents"
        case .resetDropsOutbox, .trustAfterReset, .overstateFork: "epochs"
        case .joinEarlierRead, .ignoreInvalidation: "reads"
        case .replayMerging: "merges"
        case .stopSending, .forgetNumber, .dropOverlay, .confirmAtSend, .overstateLastWrite: "counters"
        case .loseWakeUp, .forgetOutbox, .reuseNumber, .acceptBeforeSync, .flicker, .keepRejected, .cursorFirst: "writes"
        }
    }
}
