extension SyncStatus {
    /// Creates the status from the parts of a ``SyncCore``.
    init(
        _ settings: SyncSettings, _ reachability: Reachability, _ follower: Follower, _ sender: Sender, _ local: LocalState,
        _ merger: Merger,
        _ refresher: Refresher, isRunning: Bool
    ) {
        let connection: Connection =
            if let since = reachability.lostAt {
                switch reachability.trouble {
                case .unauthorized?: .unauthorized(since: since)
                case .refused(let problem)? where problem.withdrawsReading: .forbidden(since: since)
                default: .offline(since: since)
                }
            } else if follower.isLive, local.isVerified, isRunning {
                .live
            } else {
                .catchingUp
            }
        self.init(
            connection: connection, feedTrouble: reachability.trouble, writeTrouble: sender.trouble(local.sync, local.outbox),
            pendingWrites: local.outbox.pendingCount, missingMerges: merger.missing(local.outbox), rejections: local.rejectionCount,
            droppedRejections: local.sync.droppedRejections, cursor: local.sync.cursor,
            isVerified: local.isVerified && local.sync.cursor != nil && !refresher.isNeeded,
            firstCopy: settings.holdsAll && local.sync.whole?.includes(settings.filter) != true ? local.firstCopy : nil,
            pass: local.sync.pass,
            filter: settings.filter)
    }
}
