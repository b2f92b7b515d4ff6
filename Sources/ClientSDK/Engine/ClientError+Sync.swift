internal import FreshetWire

extension ClientError {
    /// What the machine's refusal means for the user.
    init(_ failure: SyncFailure, key: RecordKey?, path: String) {
        self =
            switch failure {
            case .storageFull: .diskFull(path: path)
            case .storageFailed(let text): .storageFailed(path: path, text)
            case .cannotApply(let text): .cannotApply(text)
            case .baseUnknown: .baseUnknown(key: key?.description ?? "the record")
            case .offline(let failure): .unreachable(failure.text)
            case .refused(let problem): problem.code == .unauthorized ? .unauthorized : .refused(problem)
            case .outdated: .outdated
            case .malformed(let text): .unexpectedAnswer(text)
            case .cleared: .cleared
            case .stopped: .stopped
            }
    }

    init(_ trouble: SyncStatus.Trouble, path: String) {
        self =
            switch trouble {
            case .transport(let failure): .unreachable(failure.text)
            case .unauthorized: .unauthorized
            case .refused(let problem): .refused(problem)
            case .malformed(let text): .unexpectedAnswer(text)
            case .disk(.full): .diskFull(path: path)
            case .disk(.failed(let text)): .storageFailed(path: path, text)
            }
    }
}

extension TransportFailure {
    var text: String {
        switch self {
        case .unreachable(let text), .interrupted(let text): text
        case .watchdog: "nothing came back in time; the connection is taken for dead and made anew"
        }
    }
}

extension SyncClient.Status {
    init(_ status: SyncStatus, path: String) {
        let connection: Connection =
            switch status.connection {
            case .live: .live
            case .catchingUp: .catchingUp
            case .offline(let since): .offline(since: since)
            }
        self.init(
            connection: connection, cursor: status.cursor, waitingWrites: status.pendingWrites, isVerified: status.isVerified,
            feedError: status.feedTrouble.map { ClientError($0, path: path) },
            writeError: status.writeTrouble.map { ClientError($0, path: path) })
    }
}
