internal import FreshetFaultProxy
public import FreshetServer
public import Logging
internal import Synchronization

extension TestKit {
    /// A real server in this process, on a free port of the loopback, that accepts faults.
    ///
    /// ```swift
    /// var configuration = RecordServerConfiguration()
    /// configuration.storage = .directory("/tmp/records")
    /// let server = try TestKit.Server(configuration)
    /// let kit = try TestKit(on: server)
    /// ```
    public final class Server: Sendable {
        let faults: FaultServer
        private let lastNamespace = Atomic<Int>(0)
        /// Distinguishes the namespaces of this server from those that an earlier one has left in the same directory.
        private let run = String(UInt64.random(in: .min ... .max), radix: 36)
        /// The server's URL: `http://127.0.0.1:PORT`.
        public let url: String

        /// Starts a server that answers when this returns, some milliseconds later. With a directory it blocks on the
        /// disk.
        ///
        /// - Parameters:
        ///   - configuration: by default in memory; faults are always accepted, whatever it says.
        ///   - logger: receives messages for the operator; none by default.
        /// - Throws: ``TestKitError/serverFailed(_:)``.
        public init(
            _ configuration: RecordServerConfiguration = RecordServerConfiguration(),
            logger: Logger = Logger(label: "freshet.server") { _ in SwiftLogNoOpLogHandler() }
        ) throws(TestKitError) {
            do throws(RecordServerError) { faults = try FaultServer(configuration, logger: logger) } catch { throw .serverFailed(error) }
            url = faults.url
        }

        /// `nil` once the server has stopped.
        var control: ServerControl? { faults.control }

        /// Answers the waiting requests and stops. Kits on the server can no longer be used.
        public func stop() async { await faults.stop() }

        /// The server of all kits that were made without one. It lives as long as the process.
        static func shared() throws(TestKitError) -> Server { try common.get() }

        private static let common: Result<Server, TestKitError> = {
            do throws(TestKitError) { return .success(try Server()) } catch { return .failure(error) }
        }()

        func freshNamespace() -> String { "kit-\(run)-\(lastNamespace.add(1, ordering: .relaxed).newValue)" }
    }
}
