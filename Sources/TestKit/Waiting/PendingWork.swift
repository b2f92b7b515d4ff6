internal import FreshetClient
internal import FreshetWire

/// Computes why a device is not at rest, from its state alone.
enum PendingWork {
    /// The state of a device at one moment.
    struct DeviceState: Sendable {
        var status: SyncClient.Status
        /// The server's position, read after the status.
        var head: Cursor
        /// Whether the server has a change after the device's position that the device follows. Used only if the two
        /// positions differ.
        var hasNews: Bool
    }

    /// The conditions that the device waits for, in words; empty if it is at rest: it has no write without a verdict,
    /// follows live, and has all changes that the server has for it, with their values. A device that is stopped waits for nothing.
    static func reasons(_ state: DeviceState) -> [String] {
        let status = state.status
        guard status.connection != .stopped else { return [] }
        var reasons: [String] = []
        if status.waitingWrites > 0 {
            let count = status.waitingWrites == 1 ? "1 write has" : "\(status.waitingWrites) writes have"
            reasons.append("\(count) no verdict\(status.writeError.map { " (\($0))" } ?? "")")
        }
        switch status.connection {
        case .live, .stopped: break
        case .catchingUp: reasons.append("it is catching up\(status.feedError.map { " (\($0))" } ?? "")")
        case .unauthorized: reasons.append("its token is refused")
        case .forbidden: reasons.append("its token may read nothing that it follows")
        case .offline: reasons.append("it is offline\(status.feedError.map { " (\($0))" } ?? "")")
        }
        if !status.isVerified {
            reasons.append("it has not read all values that were invalidated, or are too large to come with the changes")
        }
        switch status.cursor {
        case nil: reasons.append("it has no position yet, and the server is at \(state.head)")
        case let cursor? where cursor != state.head && (cursor.epoch != state.head.epoch || state.hasNews):
            reasons.append("it is at \(cursor), and the server at \(state.head)")
        default: break
        }
        return reasons
    }
}
