public import FreshetCache
public import Logging

extension SyncClient {
    /// The settings of a client. Only ``url`` and ``namespace`` have no default.
    ///
    /// ```swift
    /// var configuration = SyncClient.Configuration(url: "https://sync.example.org", namespace: "shop")
    /// configuration.storage = .directory("/var/lib/shop/cache")
    /// configuration.token = { _ in try await session.accessToken() }
    /// configuration.following = .cachedRecords                        // the records that are read or written here; by default all
    /// ```
    public struct Configuration: Sendable {
        /// The storage of entries, cursor and outbox.
        public enum Storage: Hashable, Sendable {
            /// The file `freshet.sqlite` in this directory, which is created if it does not exist; one client at a time. A
            /// relative path begins at the working directory of the moment when the client is made, and `~` is refused.
            case directory(String)
            /// Memory only: everything is lost when the client stops, including writes that were not sent.
            case memory
        }

        /// The changes that a client stores.
        public enum Following: Hashable, Sendable {
            /// All that match ``Configuration/collections`` and ``Configuration/prefix``: the cache is a copy that works offline. The default.
            case everything
            /// Changes of records that were read or written on this device. Other records are read on demand, and a
            /// list of a collection is read from the server: see ``SyncedCollection/ids(policy:)``. For namespaces of
            /// which a device needs a small part.
            case cachedRecords
        }

        /// The server, such as `https://sync.example.org` or `http://127.0.0.1:8180`; a path before `/v1` may follow.
        ///
        /// Requests to hosts other than loopback go through the proxy that `http_proxy`, `https_proxy` or `all_proxy`
        /// names in the environment when the client is made, except for hosts in `no_proxy`. Errors name the proxy, without
        /// its user and password.
        public var url: String
        /// The namespace, `[a-z0-9][a-z0-9._-]{0,62}`.
        public var namespace: String
        /// The storage of entries, cursor and outbox. Memory by default.
        public var storage: Storage = .memory
        /// Returns the bearer token of each request, or `nil` for none. Called once per request, from any thread.
        ///
        /// Its argument is true after the server refused the last token: the closure must then return a fresh one. If
        /// the closure throws, or gives nothing within ``requestTimeout``, the request counts as not sent, and is tried again with back-off.
        ///
        /// With a closure, ``url`` must be `https`, or `http` to this machine: see ``allowsInsecureCredentials``.
        public var token: (@Sendable (_ needsFreshToken: Bool) async throws -> String?)?
        /// Allows the token, or a password in ``url``, to be sent over plain `http` to hosts other than loopback,
        /// where others on the network can read it. Set it only for a network that is trusted, or encrypted by other
        /// means, such as a VPN.
        ///
        /// Without it, such a configuration is refused with ``ClientError/invalidConfiguration(_:)``. Loopback is `127.0.0.0/8`, `[::1]`,
        /// `localhost` and names below it.
        public var allowsInsecureCredentials = false
        /// The path of a file of certificates in PEM, read for each connection. If it is set, only servers with a certificate that one of them signed are trusted; `nil`
        /// trusts those of the system. Certificates are always verified, and the version is TLS 1.2 or newer.
        ///
        /// With a ``url`` of plain `http` this setting, ``clientCertificate`` and ``pinnedKeys`` are refused with
        /// ``ClientError/invalidConfiguration(_:)``.
        public var authority: String?
        /// The certificate that this device presents to a server that demands one.
        public var clientCertificate: ClientCertificate?
        /// The keys that the server may have, each `sha256//` and the digest of its public key in base64; empty for any. They are checked in
        /// addition to the certificate. Pin a second key that the server can change to.
        public var pinnedKeys: [String] = []

        /// The files of a device's certificate.
        public struct ClientCertificate: Hashable, Sendable {
            /// The path of the certificate in PEM.
            public var certificate: String
            /// The path of its private key in PEM, without a passphrase.
            public var key: String

            /// - Parameters:
            ///   - certificate: the path of the certificate.
            ///   - key: the path of its private key.
            public init(certificate: String, key: String) {
                self.certificate = certificate
                self.key = key
            }
        }
        /// The changes that are stored. A directory that was used with another setting is verified completely at the
        /// next start.
        public var following: Following = .everything
        /// The collections whose changes are followed; empty means all.
        ///
        /// The client keeps and observes no records of others, since it would learn of no change of them. Each read of such a record and
        /// each list asks the server, and fails while it cannot be reached; writes are kept, shown until their outcome, and sent as
        /// all others. A client that follows fewer collections than the last one in its directory drops the rest; one that follows more
        /// reads the new ones from nothing. The same holds for ``prefix``.
        ///
        /// A server accepts up to 64 in one request. A client with more requests the changes of all collections, and
        /// skips those of other collections: it stores the same data, but receives more responses.
        public var collections: [String] = []
        /// A prefix of the ids of followed records, at most 512 bytes; empty means any id.
        public var prefix = ""
        /// The most bytes that the memory tier may hold, values and bookkeeping together, in addition to pending and
        /// observed records.
        public var memoryLimit = 32 << 20
        /// Shrinks the memory tier while the machine or the process's control group is short of memory; `nil` disables
        /// this. Pending and observed records stay, and removed ones are read from disk again.
        public var memoryPressure: MemoryPressure? = .shared
        /// The most bytes that entries and outbox may take on disk, or in memory with ``Storage/memory``; at least
        /// 262,144. Above it, the least recently used entries are evicted in the background, and are read from the
        /// server again on demand. Pending and observed records are never evicted. The file does not shrink: its free
        /// pages are used again.
        ///
        /// `nil`, the default, means no limit for ``Following/everything``, since a copy that evicts records is
        /// incomplete, and ``standardDiskLimit`` for ``Following/cachedRecords``.
        public var diskLimit: Int?
        /// 256 MiB.
        public static let standardDiskLimit = 256 << 20
        /// The most bytes that the file may have, or `nil`. When it is full, writes fail with ``ClientError/diskFull(path:)``.
        public var fileLimit: Int?
        /// How long the server may hold a request for changes: 1 to 60 whole seconds.
        public var hold: Duration = .seconds(25)
        /// How long after the hold a response may take before the connection counts as dead.
        public var grace: Duration = .seconds(10)
        /// How long connecting may take, TLS included.
        public var connectTimeout: Duration = .seconds(10)
        /// How long a request without a hold may take.
        public var requestTimeout: Duration = .seconds(30)
        /// How long a read may wait for the network in all, with all of its attempts. Then it fails, or returns the
        /// cached value, depending on its ``ReadPolicy``. At least 1 ms. While the client is offline, a read does not
        /// wait at all.
        public var readTimeout: Duration = .seconds(10)
        /// The first back-off after a failure; each next one may be twice as long, with full jitter.
        public var firstDelay: Duration = .milliseconds(250)
        /// The longest back-off.
        public var longestDelay: Duration = .seconds(30)
        /// The most bytes of one response, at least 131,072.
        ///
        /// After a larger response the client asks for less: fewer writes, keys or changes, down to one. An atomic
        /// batch whose changes are larger, at most 32 MiB of values, then comes change by change, and may be shown in
        /// parts. A single record that is larger cannot be read: a read of it fails with
        /// ``ClientError/unexpectedResponse(_:)``, and after a reset it leaves the cache. A single change that is
        /// larger, which a server with its usual limits does not send, keeps the client from following;
        /// ``SyncClient/Status`` reports this.
        public var responseLimit = 64 << 20
        /// 128 KiB: one change, or one rejection, with a value of 64 KiB.
        static let leastResponseLimit = 128 << 10
        /// Uses HTTP/2 over TLS where the server offers it.
        public var allowsHTTP2 = false
        /// The device's name in the namespace, or `nil` for a random name that the directory keeps.
        /// `[A-Za-z0-9._-]{1,64}`. Requires storage in a directory. Two devices must not have the same name, and a
        /// device whose directory is lost needs a new one: each device numbers its writes from 1, and the server would
        /// take them for repeats of the writes that it knows under the name. A device that detects that another one
        /// shares its name, as after a copy of its directory, takes another name that begins with this one.
        public var client: String?
        /// The user to whom the data on this device belong, in any form that the app keeps for this user: an account number, or the
        /// `issuer|subject` of a token; 1 to 1,024 bytes. `nil` for data that belong to nobody.
        ///
        /// A directory belongs to the first principal with whom it was opened, until ``SyncClient/clear(keepingOutbox:andStop:)``. Another
        /// principal, or none, gets ``ClientError/otherPrincipal(pendingWrites:)`` from ``SyncClient/start()``: no user sees the records of
        /// another, and no write is sent under a wrong name. The server does not receive it.
        public var principal: String?
        /// Allows a directory that belongs to one store to move to another that answers at ``url``.
        ///
        /// A directory belongs to the first store that it has met, whatever the store's address. A server of another
        /// store is refused with ``ClientError/otherStore(found:expected:)`` before anything is sent to it or stored
        /// from it. With this setting, the directory belongs to the new store from its first response on: its entries
        /// are verified there, and the waiting writes are sent there. To drop these writes instead, call
        /// ``SyncClient/clear(keepingOutbox:andStop:)``. All stores that exist only in memory count as one.
        public var adoptsStore = false
        /// Receives lines about failures and resets.
        public var logger: Logger

        /// Creates a configuration with the defaults.
        public init(url: String, namespace: String, storage: Storage = .memory) {
            self.url = url
            self.namespace = namespace
            self.storage = storage
            logger = Logger(label: "freshet.client")
        }
    }
}
