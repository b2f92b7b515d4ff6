import Glibc

/// Where and how a server listens.
public struct HTTPServerConfiguration: Sendable {
    /// An IPv4 or IPv6 address or a name; a name is resolved once, at the start, and IPv4 is preferred.
    public var host: String
    /// The TCP port; 0 picks a free one.
    public var port: Int
    /// Event loops, each a serial Dispatch queue: at least 1. Half the cores by default, since the application needs the
    /// others.
    public var loops: Int
    /// Connections that the kernel keeps until they are accepted (bounded by `net.core.somaxconn`).
    public var backlog: Int
    /// The limits that apply to clients.
    public var limits: Limits
    /// The default time that `drain()` waits for requests in flight.
    public var drainTimeout: Duration
    /// Encrypts the connections of ``host`` and ``port``; `nil` leaves them plain.
    package var layers: (any ByteLayerSource)?
    /// The origins whose pages may read the answers; `nil` for none.
    package var crossOrigin: CrossOriginList?
    /// Further places to listen at, at most 254.
    package var otherListeners: [HTTPListener] = []

    /// All places to listen at; `Request.listener` is an index in them.
    var listeners: [HTTPListener] { [HTTPListener(.address(host: host, port: port), layers: layers)] + otherListeners }

    /// A configuration for tests and local use: loopback, any free port.
    public init(
        host: String = "127.0.0.1",
        port: Int = 0,
        loops: Int = HTTPServerConfiguration.defaultLoops,
        backlog: Int = 4096,
        limits: Limits = Limits(),
        drainTimeout: Duration = .seconds(10)
    ) {
        self.host = host
        self.port = port
        self.loops = loops
        self.backlog = backlog
        self.limits = limits
        self.drainTimeout = drainTimeout
    }

    /// Half the cores that are online, at least 1.
    public static var defaultLoops: Int {
        max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)
    }
}
