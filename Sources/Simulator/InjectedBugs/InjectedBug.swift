/// Ways to break the implementation of a rule, so that it shows whether the rule is checked.
///
/// They exist in the simulator alone: its disks, links and processes do what a broken implementation would have done, and the code that
/// ships has no switch at all.
package enum InjectedBug: String, Hashable, Sendable, CaseIterable {
    /// 1. A device gives up sending after a connection broke.
    case stopSending
    /// 1. The disk does not know which records were invalidated or lack their values.
    case loseRefreshes
    /// 2. The disk stores every record that arrives, newer or not.
    case storeOlder
    /// 3. A restart forgets the outbox.
    case forgetOutbox
    /// 3. Responses count a write as decided that is not.
    case overstateLastWrite
    /// 4. Answers pass the fence however old they are.
    case skipFence
    /// 4. An invalidation leaves the entry where it is.
    case ignoreInvalidation
    /// 5. A retried batch is applied as if it were new.
    case forgetNumber
    /// 5. A batch whose outcome is unknown is sent again under other numbers.
    case renumberUnknown
    /// 5. The server forgets the device's last number in a crash.
    case forgetLedger
    /// 5. The server identifies a write by its number and ignores the nonce.
    case ignoreNonces
    /// 5. A device takes what a proxy answers for the server's word.
    case trustProxy
    /// 6. The server answers before the disk has the write.
    case acknowledgeBeforeSync
    /// 6. The device says that a write is kept before its disk has it.
    case acceptBeforeSync
    /// 7. The response to a write removes it from the overlay, although the record does not hold it yet.
    case dropOverlay
    /// 7. Responses do not count the write that was decided last.
    case understateLastWrite
    /// 7. After a restart, a write that has its verdict counts as one that was not sent, so that a record which contains it is
    /// taken for one that does not.
    case forgetSent
    /// 7. An increment after a pending value of this device counts as one that the record does not contain, although it contains
    /// both.
    case replayBehindOwnValue
    /// 7. A page overwrites a pending value in memory.
    case flicker
    /// 8. A write that was sent counts as confirmed.
    case confirmAtSend
    /// 8. A rejected write stays.
    case keepRejected
    /// 8. A write that met a conflict is rejected where its merge closure is not registered yet.
    case rejectUnregistered
    /// 9. The watchdog sleeps.
    case sleepingWatchdog
    /// 9. Once live, always live, to those who read.
    case stuckLive
    /// 9. A device shows later what it has read of a record that it does not follow.
    case keepUncovered
    /// 10. The cursor is stored before the records, in a separate transaction.
    case cursorFirst
    /// 10. A commit between a poll's lookup and its wait wakes no waiter, and the next response states the position after that commit.
    case loseWakeUp
    /// 10. A merge patch is stored as if it were the whole value.
    case inventValue
    /// 10. An increment passes its bounds, and begins where it demands a record.
    case ignoreConditions
    /// 10. A device that does not hold everything says of what it does not hold that there is no record.
    case claimAbsence
    /// 10. A promoted standby claims one revision of the former primary more than it has.
    case overstateFork
    /// 11. A reset empties the outbox.
    case resetDropsOutbox
    /// 11. A reset verifies nothing.
    case trustAfterReset
    /// 12. A response that was on its way when the device was cleared is stored all the same.
    case storeAfterClear
    /// 12. A response that nothing waits for lets the device begin whatever is due.
    case beginAtLateResponse
    /// 12. Clearing forgets the memory tier.
    case clearDiskOnly
    /// A read joins another one that was sent before it.
    case joinEarlierRead
    /// A list takes a page that is older than the device's position.
    case acceptOldList
    /// The disk does not keep rejected writes.
    case loseRejections
    /// A read waits for as long as nothing comes back.
    case endlessRead
    /// The server keeps those who have disconnected.
    case keepWaiters
    /// 10. Of several servers: a server publishes its commit before those of others that it is based on, which it skips.
    case skipGap
    /// A server that does not know whether it has committed goes on as if it had not, and its feed does not read the store.
    case skipUnknown
    /// Of several servers: a new connection to the others is not followed by a comparison with the store.
    case skipReconciliation
    /// 10. Of several servers: a server forgets that a reader has seen a later head, and says that nothing remains.
    case forgetGoal

    /// How many servers a run needs to show it.
    package var servers: Int { [.skipGap, .skipReconciliation, .forgetGoal].contains(self) ? 3 : 1 }

    /// A revocation does not end the waits of its sessions.
    case skipWalk
    /// A session is checked when its request arrives, and not when it begins to wait, commits or is answered.
    case checkRightsOnce
    /// A poll that comes to others which wait is not ended with its token.
    case skipExpiry
    /// A device keeps the records that it may not read any more.
    case keepForbidden

    /// Whether it shows only in runs with rights.
    package var needsRights: Bool { [.revoked, .expired, .withinRights].contains(rule) }

    /// Whether it shows only in runs with lists.
    package var needsLists: Bool { self == .acceptOldList }

    /// The rule that it breaks.
    package var rule: Rule {
        switch self {
        case .stopSending, .loseRefreshes: .converge
        case .storeOlder: .neverBack
        case .forgetOutbox, .overstateLastWrite: .readYourWrites
        case .skipFence, .ignoreInvalidation: .fenceFetches
        case .forgetNumber, .renumberUnknown, .forgetLedger, .ignoreNonces, .trustProxy: .exactlyOnce
        case .acknowledgeBeforeSync, .acceptBeforeSync: .durableBeforeAcknowledged
        case .dropOverlay, .flicker, .understateLastWrite, .forgetSent, .replayBehindOwnValue: .overlayThenBase
        case .confirmAtSend, .keepRejected, .rejectUnregistered: .pendingMeansPending
        case .sleepingWatchdog, .stuckLive, .keepUncovered, .skipUnknown: .noSilentStaleness
        case .cursorFirst, .loseWakeUp, .inventValue, .ignoreConditions, .claimAbsence, .overstateFork, .skipGap,
            .forgetGoal:
            .nothingInvented
        case .resetDropsOutbox, .trustAfterReset: .resetKeepsYours
        case .storeAfterClear, .beginAtLateResponse, .clearDiskOnly: .clearMeansClear
        case .joinEarlierRead, .acceptOldList: .linearizable
        case .loseRejections: .rejectionsStay
        case .endlessRead, .keepWaiters: .bounded
        case .skipReconciliation: .serversFollow
        case .skipWalk, .checkRightsOnce: .revoked
        case .skipExpiry: .expired
        case .keepForbidden: .withinRights
        }
    }
}
