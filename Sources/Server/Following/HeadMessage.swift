package import FreshetWire

/// A message in which a server of a store announces to the others where its commits have taken namespaces. It is a
/// hint: a receiver reads the changes from the store, and a message may be lost, come twice, late, or in another order.
package struct HeadMessage: Hashable, Sendable {
    /// A namespace and a position that it has reached.
    package struct Head: Hashable, Sendable {
        package var namespace: Namespace
        package var position: Cursor

        package init(_ namespace: Namespace, _ position: Cursor) {
            self.namespace = namespace
            self.position = position
        }
    }

    /// The sender's random number.
    package var sender: UInt64
    /// Counts the sender's messages from 1.
    package var number: Int64
    /// At most ``HeadFollower/mostHeads``, by name; none in a message that only shows that the connection works.
    package var heads: [Head]
    /// Whether the sender had more heads than fit, so that receivers have to compare all of theirs with the store.
    package var isPartial: Bool
    /// The latest version of keys and revocations that a transaction of the sender has made; `nil` if none has.
    package var access: AccessVersion?

    package init(sender: UInt64, number: Int64, heads: [Head], isPartial: Bool, access: AccessVersion? = nil) {
        self.access = access
        self.sender = sender
        self.number = number
        self.heads = heads
        self.isPartial = isPartial
    }
}

/// The connection over which the servers of a store announce their commits to each other: for PostgreSQL, `LISTEN` and
/// `NOTIFY`.
///
/// An implementation delivers messages to all servers, the sender among them, mostly in the order in which they were
/// sent. It performs each call at once or later, on any thread, but never delivers an event within a call.
package protocol CommitAnnouncements: Sendable {
    /// Opens the server's connection, after closing the one that it had, and delivers its events from then on:
    /// ``HeadFollower/Event/established`` once messages of others will be received, `received`, `sent` and `lost`.
    func connect(_ deliver: @escaping @Sendable (HeadFollower.Event) -> Void)

    /// Sends a message to all servers; `sent` follows once another may be sent, unless the connection is lost.
    func send(_ message: HeadMessage)

    /// Closes the connection; no event follows.
    func disconnect()
}
