internal import Logging

extension SyncClient.Status {
    /// A line for the client's log.
    struct Message: Hashable {
        var level: Logger.Level
        var text: String
    }

    /// The lines that report how the contact with the server changed: one when it is lost and one when it is back, so
    /// that a long outage does not fill a log. The failures of later attempts may have other texts.
    func messages(after before: Self) -> [Message] {
        // A client that stops has neither.
        guard connection != .stopped else { return [] }
        return Self.messages(
            before.feedError, feedError, isNew: connection.isOtherFailure(than: before.connection), failing: "changes are not followed",
            again: "changes are followed again")
            + Self.messages(
                before.writeError, writeError, isNew: false, failing: "writes are not sent", again: "writes are sent again")
    }

    private static func messages(
        _ before: ClientError?, _ error: ClientError?, isNew: Bool, failing: String, again: String
    ) -> [Message] {
        guard let error else { return before == nil ? [] : [Message(level: .info, text: again)] }
        return before == nil || isNew ? [Message(level: .warning, text: "\(failing): \(error)")] : []
    }
}

extension SyncClient.Status.Connection {
    /// Whether it fails in another way than `other` does; the time since when does not count.
    fileprivate func isOtherFailure(than other: Self) -> Bool {
        switch (self, other) {
        case (.offline, .offline), (.unauthorized, .unauthorized), (.forbidden, .forbidden): false
        case (.offline, _), (.unauthorized, _), (.forbidden, _): true
        case (.stopped, _), (.catchingUp, _), (.live, _): false
        }
    }
}
