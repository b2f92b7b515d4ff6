public import FreshetClient
internal import FreshetFaultProxy
internal import FreshetWire
internal import Synchronization

extension TestKit {
    /// A device of a kit: a real client over real sockets, which faults identify by its token.
    public final class Device: Sendable {
        /// The device's name in errors and faults.
        public let name: String
        let filter: ChangeFilter
        let tokens: Tokens
        private let current: Mutex<SyncClient>

        /// The client itself, for calls that have no shortcut here. ``TestKit/restart(_:)`` replaces it.
        public var client: SyncClient { current.withLock { $0 } }

        init(_ name: String, _ configuration: SyncClient.Configuration) throws {
            self.name = name
            let tokens = Tokens(name)
            self.tokens = tokens
            var configuration = configuration
            configuration.token = { needsFreshToken in tokens.token(fresh: needsFreshToken) }
            current = Mutex(try SyncClient(configuration))
            filter = try ChangeFilter(collections: configuration.collections, prefix: configuration.prefix)
        }

        /// The device's freshness, position and pending writes.
        public var status: SyncClient.Status { client.status }

        /// A collection of values that are JSON on the wire; see `SyncClient.collection(_:of:merging:)`.
        public func collection<Value: Codable & Sendable>(
            _ name: String, of type: Value.Type = Value.self, merging: MergeClosure<Value>? = nil
        ) -> SyncedCollection<Value> {
            client.collection(name, of: type, merging: merging)
        }

        /// Starts the device again. With a directory it keeps its data; with storage in memory it starts empty.
        public func start() async throws(ClientError) { try await client.start() }

        /// Stops the device. ``TestKit/waitUntilIdle(within:)`` ignores a stopped device.
        public func stop() async { await client.stop() }

        /// Replaces the present client with a new one. The present client ends at once, with all its operations in
        /// progress.
        func restart() async throws {
            let next = try SyncClient(again: client)
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
    /// A device's tokens: each request for a fresh token gets the next generation.
    final class Tokens: Sendable {
        private let device: String
        private let last = Mutex<Int64>(1)

        init(_ device: String) { self.device = device }

        /// The generation of the current token.
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
