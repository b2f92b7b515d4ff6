#if PostgreSQL
package import FreshetServer

/// A connection that is never established: the server compares its feeds with the store every 500 ms instead.
package struct NoAnnouncements: CommitAnnouncements {
    package init() {}

    package func connect(_ deliver: @escaping @Sendable (HeadFollower.Event) -> Void) {}

    package func send(_ message: HeadMessage) {}

    package func disconnect() {}
}
#endif
