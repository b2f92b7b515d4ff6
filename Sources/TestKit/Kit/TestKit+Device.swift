public import FreshetClient
internal import FreshetServer
internal import FreshetWire
internal import Synchronization

extension TestKit {
    /// A device of a kit: a real client over real sockets, which faults know by its token.
    public final class Device: Sendable {
        /// What errors and faults call it.
        public let name: String
        let filter: ChangeFilter
        let tokens: Tokens
        private let configuration: SyncClient.Configuration
        private let current: Mutex<SyncClient>

        /// The client itself, for all that has no shorter way here. After ``TestKit/restart(_:)`` it is another one.
        public var client: SyncClient { current.withLock { $0 } }

        init(_ name: String, _ configuration: SyncClient.Configuration) throws {
            self.name = name
            let tokens = Tokens(name)
            self.tokens = tokens
            var configuration = configuration
            configuration.token = { needsFreshToken in tokens.token(fresh: needsFreshToken) }
            self.configuration = configuration
            current = Mutex(try SyncClient(configuration))
            filter = try ChangeFilter(collections: configuration.collections, prefix: configuration.prefix)
        }

        /// How fresh it is, what it has, and what still waits.
        public var status: SyncClient.Status { client.status }

        /// A collection of values that are JSON on the wire; see `SyncClient.collection(_:of:merging:)`.
        public func collection<Value: Codable & Sendable>(
            _ name: String, of type: Value.Type = Value.self, merging: MergeClosure<Value>? = nil
        ) -> SyncedCollection<Value> {
            client.collection(name, of: type, merging: merging)
        }

        /// Starts it again. With a directory it goes on with what it had, with memory from nothing.
        public func start() async throws { try await client.start() }

        /// Stops it. ``TestKit/quiesced(within:)`` passes over a device that is stopped.
        public func stop() async { await client.stop() }

        /// Puts a new client in the place of the present one, which ends at once with all that it has under way.
        func restart() async throws {
            let next = try SyncClient(configuration)
            let last = current.withLock { client in
                defer { client = next }
                return client
            }
            await last.stop()
            try await next.start()
        }
    }
}

extension TestKit.Device {
    /// A device's tokens: each time that a fresh one is wanted, the next generation.
    final class Tokens: Sendable {
        private let device: String
        private let last = Mutex<Int64>(1)

        init(_ device: String) { self.device = device }

        /// The generation of the present token.
        var generation: Int64 { last.withLock { $0 } }

        func token(fresh: Bool) -> String {
            let generation = last.withLock { last in
                if fresh { last += 1 }
                return last
            }
            return DeviceToken(device: device, generation: generation).text
        }
    }
}
