internal import FreshetWire

extension ClientError {
    /// Converts the machine's refusal to the user's error.
    init(_ failure: SyncFailure, _ caller: Caller, path: String) {
        self =
            switch failure {
            case .disk(let failure): Self(failure, path: path)
            case .cannotApply(let text): .cannotApply(text)
            case .baseUnknown: .baseUnknown(key: caller.key?.description ?? "the record")
            case .noRejection: .unknownRejection(caller.rejection?.number ?? 0)
            case .offline(let failure): ClientError(failure)
            case .refused(let problem): problem.code == .unauthorized ? .unauthorized : .refused(problem)
            case .outdated: .outdated
            case .malformed(let text), .tooLarge(let text): .unexpectedResponse(text)
            case .cleared: .cleared
            case .stopped: .stopped
            }
    }

    init(_ trouble: SyncStatus.Trouble, path: String) {
        self =
            switch trouble {
            case .transport(let failure): Self(failure)
            case .unauthorized: .unauthorized
            case .refused(let problem): .refused(problem)
            case .malformed(let text): .unexpectedResponse(text)
            case .disk(let failure): Self(failure, path: path)
            }
    }

    /// - Parameter path: the only place of the error's text that names the path.
    init(_ failure: DiskFailure, path: String) {
        self =
            switch failure {
            case .full: .diskFull(path: path)
            case .readOnly: .readOnly(path: path)
            case .damaged: .corrupt(path: path, quarantine: path)
            case .failed(let text): .storageFailed(path: path, text)
            }
    }
}

extension ClientError {
    init(_ failure: TransportFailure) {
        self =
            switch failure {
            case .unreachable(let text), .interrupted(let text): .unreachable(text)
            case .untrusted(let text): .untrusted(text)
            case .watchdog: .unreachable("no response in time; the connection counts as dead and is replaced")
            case .intercepted(let response): .intercepted(status: response.status, response.text)
            case .otherStore(let found, let expected): .otherStore(found: found?.token, expected: expected.token)
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
            case .unauthorized(let since): .unauthorized(since: since)
            case .forbidden(let since): .forbidden(since: since)
            }
        self.init(
            connection: connection, cursor: status.cursor, waitingWrites: status.pendingWrites,
            missingMergeClosures: Dictionary(uniqueKeysWithValues: status.missingMerges.map { ($0.text, $1) }),
            rejectedWrites: status.rejections, droppedRejections: Int(status.droppedRejections), isVerified: status.isVerified,
            feedError: status.feedTrouble.map { ClientError($0, path: path) },
            writeError: status.writeTrouble.map { trouble in
                if case .refused(let problem) = trouble, problem.code == .clientTaken {
                    return .otherPrincipal(pendingWrites: status.pendingWrites)
                }
                return ClientError(trouble, path: path)
            })
        firstCopy = status.firstCopy.map { FirstCopy(records: $0.records, bytes: $0.bytes, share: $0.share) }
    }
}
