internal import FreshetPlatform
internal import FreshetWire

extension Engine {
    /// Returns the rejected writes that wait for the user, oldest first. O(their bytes).
    func rejectedWrites() throws -> [RejectedWrite] {
        try reading(try running(), else: []) { try $0.rejections() }.filter { machine?.keeps($0.writeID) ?? false }
    }

    /// Returns a stream with one signal at once, and one for each change of the list.
    func observeRejections() throws -> AsyncStream<Void> {
        _ = try running()
        return rejections.stream(first: ())
    }

    /// Repeats a rejected write, or writes another value in its place. The rejection leaves the disk in the
    /// transaction that stores the write.
    ///
    /// - Parameters:
    ///   - operation: `nil` for the operation of the rejected write.
    ///   - policy: `nil` for the policy of the rejected write.
    func retry(_ rejection: SyncClient.Rejection, _ operation: WriteOperation?, _ policy: ConflictPolicy?) async throws -> PendingWrite {
        let rejected = try kept(rejection)
        return try await write(rejected.key, operation ?? rejected.operation, policy ?? rejected.policy, retries: rejected.writeID)
    }

    func discard(_ rejection: SyncClient.Rejection) async throws {
        let writeID = try kept(rejection).writeID
        let callerID = nextCallerID()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            callers[callerID] = .discard(writeID, continuation)
            submit(.discard(writeID, callerID))
        }
    }

    /// Returns the write on disk if it is the one that the user saw: after a clear, another one may have its number.
    private func kept(_ rejection: SyncClient.Rejection) throws -> RejectedWrite {
        let found = try reading(try running(), else: nil) { try $0.rejection(LocalWriteID(rejection.number)) }
        guard let found, SyncClient.Rejection(found) == rejection else { throw ClientError.unknownRejection(rejection.number) }
        return found
    }
}
