import FreshetWire

/// A course of events that can be run again, byte for byte: the devices that take part, and the incidents with their times.
///
/// Write one in Swift, or as text (``init(text:)``):
///
/// ```swift
/// var scenario = Scenario(devices: [.init("A"), .init("B", following: .everything)])
/// scenario.add(.write(device: 0, try RecordKey("notes/1"), .put(try Content(json: Array(#"{"v":1}"#.utf8))), .overwrite))
/// scenario.add(.settle, after: 1_000)
/// let outcome = Simulation(scenario).run()
/// ```
public struct Scenario: Hashable, Sendable {
    /// One of the devices.
    public struct Device: Hashable, Sendable {
        /// Which changes the device stores.
        public enum Following: String, Hashable, Sendable, CaseIterable {
            /// All that its collections have.
            case everything
            /// Those of keys that it holds already.
            case held
        }

        /// Its name: a letter, then letters, digits or `-`.
        public var name: String
        /// Which changes it stores; by default those of the keys that it holds, as in a scenario's text.
        public var following: Following
        /// The collections that it follows; empty for all.
        public var collections: [String]
        /// Whether it is there from the beginning, or appears with ``ScenarioEvent/join(device:)``.
        public var joinsLater: Bool
        /// Whether pages, batches and verifications are as small as they can be, so that little data takes many steps.
        public var hasSmallSteps: Bool

        /// A device.
        public init(
            _ name: String, following: Following = .held, collections: [String] = [], joinsLater: Bool = false, hasSmallSteps: Bool = false
        ) {
            self.name = name
            self.following = following
            self.collections = collections
            self.joinsLater = joinsLater
            self.hasSmallSteps = hasSmallSteps
        }
    }

    /// Something that happens, so many milliseconds after the incident before it.
    public struct Incident: Hashable, Sendable {
        /// Milliseconds since the incident before, at least 0.
        public var delay: Int64
        /// The event.
        public var event: ScenarioEvent

        /// An incident.
        public init(after delay: Int64 = 0, _ event: ScenarioEvent) {
            self.delay = max(0, delay)
            self.event = event
        }
    }

    /// Decides how long each message and each disk takes. Without one they always take the same: 10 ms and 1 ms.
    public var seed: UInt64?
    /// The devices that take part.
    public var devices: [Device]
    /// Whether the server keeps as little in memory as it can and leaves long values out of its feed soon.
    public var isServerSmall: Bool
    /// How many servers there are over the one store, 1 to 9. Devices are spread over them.
    public var servers: Int
    /// Whether messages and disks take up to 64 times as long as usual, each order of magnitude as likely as any other: all races are
    /// frequent then. Without a seed it has no effect.
    public var hasWideDelays: Bool
    /// The incidents, in order.
    public var incidents: [Incident]

    /// A scenario.
    public init(
        seed: UInt64? = nil, devices: [Device] = [], isServerSmall: Bool = false, servers: Int = 1, hasWideDelays: Bool = false,
        incidents: [Incident] = []
    ) {
        self.seed = seed
        self.devices = devices
        self.isServerSmall = isServerSmall
        self.servers = servers
        self.hasWideDelays = hasWideDelays
        self.incidents = incidents
    }

    /// Appends an incident.
    public mutating func add(_ event: ScenarioEvent, after delay: Int64 = 0) { incidents.append(Incident(after: delay, event)) }
}
