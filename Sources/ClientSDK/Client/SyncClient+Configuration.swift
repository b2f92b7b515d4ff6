public import FreshetCache
public import Logging

extension SyncClient {
    /// Everything that a client can be told. Only ``url`` and ``namespace`` have no default.
    ///
    /// ```swift
    /// var configuration = SyncClient.Configuration(url: "https://sync.example.org", namespace: "shop")
    /// configuration.storage = .directory("/var/lib/shop/cache")
    /// configuration.token = { _ in try await session.accessToken() }
    /// configuration.following = .held                        // what is read or written here; everything unless said otherwise
    /// ```
    public struct Configuration: Sendable {
        /// Where the client keeps entries, cursor and outbox.
        public enum Storage: Hashable, Sendable {
            /// In the file `freshet.sqlite` of this directory, which is made if need be; one client at a time.
            case directory(String)
            /// In memory alone: all is gone when the client stops, writes that were not sent too.
            case memory
        }

        /// Which changes a client stores.
        public enum Following: Hashable, Sendable {
            /// All that match ``Configuration/collections`` and ``Configuration/prefix``: the cache is a copy that works offline. The default.
            case everything
            /// Those of records that were read or written here; others are read when they are asked for, and a list of a collection is read from
            /// the server: see ``SyncedCollection/ids(policy:)``. For namespaces of which a device needs a small part.
            case held
        }

        /// The server, such as `https://sync.example.org` or `http://127.0.0.1:8180`; a path before `/v1` may follow.
        ///
        /// Requests to other hosts than loopback go through the proxy that `http_proxy`, `https_proxy` or `all_proxy` names in the environment when
        /// the client is made, but for what `no_proxy` lists. Errors name the proxy.
        public var url: String
        /// The namespace, `[a-z0-9][a-z0-9._-]{0,62}`.
        public var namespace: String
        /// Where entries, cursor and outbox are kept. Memory unless said otherwise.
        public var storage: Storage = .memory
        /// Gives the bearer token of each request, or `nil` for none; called once per request, from any thread.
        ///
        /// Its argument is true after the server refused the last token: then a fresh one is wanted. If it throws, the request
        /// counts as not sent, and is tried again with back-off.
        ///
        /// With a closure, ``url`` must be `https`, or `http` to this machine: see ``allowsInsecureCredentials``.
        public var token: (@Sendable (_ needsFreshToken: Bool) async throws -> String?)?
        /// Lets the token, or a password in ``url``, go over plain `http` to other hosts than loopback, where others on the network can read it.
        /// Set it only for a network that is trusted, or encrypted by other means, such as a VPN.
        ///
        /// Without it, such a configuration is refused with ``ClientError/invalidConfiguration(_:)``. Loopback is `127.0.0.0/8`, `[::1]`,
        /// `localhost` and names below it.
        public var allowsInsecureCredentials = false
        /// Which changes are stored. A directory that was used with another setting is verified as a whole at the next start.
        public var following: Following = .everything
        /// The collections whose changes are followed; empty means all.
        ///
        /// A server takes up to 64 in one request. A client with more is sent the changes of all collections, and passes over those of others: it
        /// stores what it would otherwise, and hears more often.
        public var collections: [String] = []
        /// What the ids of followed records begin with, at most 512 bytes; empty means any.
        public var prefix = ""
        /// The most bytes that the memory tier may hold, values and bookkeeping together. Pending and observed records come on top.
        public var memoryLimit = 32 << 20
        /// Shrinks the memory tier while the machine or the process's control group is short of memory; `nil` for nobody. What is pending or
        /// observed stays, and what leaves is read from disk again.
        public var memoryPressure: MemoryPressure? = .shared
        /// The most bytes that entries and outbox may take on disk, or in memory with ``Storage/memory``; at least 262,144. Above it the
        /// entries that were not used for longest leave in the background, and are read from the server when they are asked for again.
        /// What is pending or observed never leaves. The file does not shrink: its free pages are used again.
        ///
        /// `nil`, the default, is no limit for ``Following/everything``, since a copy that evicts records is no copy any more, and
        /// ``standardDiskLimit`` for ``Following/held``.
        public var diskLimit: Int?
        /// 256 MiB.
        public static let standardDiskLimit = 256 << 20
        /// The most bytes that the file may have, or `nil`. When it is full, writes fail with ``ClientError/diskFull(path:)``.
        public var fileLimit: Int?
        /// How long the server may hold a request for changes: 1 to 60 whole seconds.
        public var hold: Duration = .seconds(25)
        /// How long after the hold an answer may take before the connection counts as dead.
        public var grace: Duration = .seconds(10)
        /// How long connecting may take, TLS included.
        public var connectTimeout: Duration = .seconds(10)
        /// How long a request may take that the server does not hold.
        public var requestTimeout: Duration = .seconds(30)
        /// How long a read may wait for the network in all, with all of its attempts; then it fails, or gives what is cached, as its ``ReadPolicy``
        /// says. At least 1 ms. While the client is offline, a read does not wait at all.
        public var readTimeout: Duration = .seconds(10)
        /// The first back-off after a failure; each next one may be twice as long, with full jitter.
        public var firstDelay: Duration = .milliseconds(250)
        /// The longest back-off.
        public var longestDelay: Duration = .seconds(30)
        /// The most bytes of one answer, at least 131,072.
        ///
        /// After an answer that has more the client asks for less: fewer writes, keys or changes, down to one. An atomic batch whose changes have
        /// more, at most 32 MiB of values, comes change by change then, and halves of it may be shown meanwhile. A record that alone has more cannot
        /// be read: who asks for it gets ``ClientError/unexpectedAnswer(_:)``, and after a reset it leaves the cache. A change that alone has
        /// more, which a server with its usual limits does not send, keeps the client from following; ``SyncClient/Status`` says so.
        public var responseLimit = 64 << 20
        /// 128 KiB: one change, or one rejection, with a value of 64 KiB.
        static let leastResponseLimit = 128 << 10
        /// Uses HTTP/2 over TLS where the server offers it.
        public var allowsHTTP2 = false
        /// Names this device in the namespace, or `nil` for a random name that the directory keeps. `[A-Za-z0-9._-]{1,64}`.
        /// Takes storage in a directory. Two devices must not have the same name, and one whose directory is gone needs a new name: each
        /// numbers its writes from 1, and the server would take them for repeats of those that it knows under the name. A
        /// device that finds that its name is shared, as after a copy of its directory, takes another one, which begins with this.
        public var client: String?
        /// Lets a directory that belongs to one store go over to another that answers at ``url``.
        ///
        /// A directory belongs to the store that it has met first, whatever its address. Another one is refused with
        /// ``ClientError/otherStore(found:expected:)`` before anything is sent to it or taken from it. With this, the directory belongs to the
        /// new store from its first answer on: its entries are verified there, and the writes that still wait are sent there. To drop them
        /// instead, call ``SyncClient/clear(andStop:)``. All stores that are kept in memory alone count as one.
        public var adoptsStore = false
        /// Where lines about troubles and resets go.
        public var logger: Logger

        /// A configuration with the defaults.
        public init(url: String, namespace: String, storage: Storage = .memory) {
            self.url = url
            self.namespace = namespace
            self.storage = storage
            logger = Logger(label: "freshet.client")
        }
    }
}
