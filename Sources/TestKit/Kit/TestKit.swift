public import FreshetClient
internal import FreshetFaultProxy
internal import FreshetServer
internal import FreshetWire
public import Logging
internal import Synchronization

/// A namespace for one test on a real server in the test's process, devices that sync through it, and faults between
/// them.
///
/// ```swift
/// let kit = try TestKit()
/// let phone = try await kit.device("phone"), laptop = try await kit.device("laptop")
/// try kit.fault(.dropReply, on: .writes, of: phone)          // the next acknowledgement is lost
/// try await phone.collection("notes", of: Note.self).setValue(Note(text: "Hello"), forKey: "1")
/// try await kit.waitUntilIdle()                                   // until everything has drained
/// #expect(laptop.collection("notes", of: Note.self)["1"]?.value?.text == "Hello")
/// ```
///
/// Kits share one server unless one is passed, so that tests run in parallel; no kit sees the records or the faults of
/// another. All members may be used from any thread or task. The namespace and the devices of a released kit are
/// removed some time later; ``close()`` waits for that.
public final class TestKit: Sendable {
    private struct State {
        var devices: [Device] = []
        var isClosed = false
    }

    /// The server that the kit uses.
    public let server: Server
    /// The namespace. Unless one was passed, no other kit of this server has it.
    public let namespace: String
    let namespaceID: Namespace
    let control: ServerControl
    private let logger: Logger
    private let state = Mutex(State())

    /// Makes a kit with a fresh namespace. It takes well below a millisecond on a server that runs.
    ///
    /// - Parameters:
    ///   - server: the server; by default one for the whole process, in memory, which the first kit starts.
    ///   - namespace: a name for the namespace, instead of a fresh one. ``close()`` removes the namespace all the same.
    ///   - logger: receives the messages of the devices; none by default, since faults cause many of them.
    /// - Throws: ``TestKitError/serverFailed(_:)``, ``TestKitError/invalidName(_:)`` or ``TestKitError/closed``.
    public init(
        on server: Server? = nil, namespace: String? = nil,
        logger: Logger = Logger(label: "freshet.device") { _ in SwiftLogNoOpLogHandler() }
    ) throws(TestKitError) {
        let server = if let server { server } else { try Server.shared() }
        guard let control = server.control else { throw .closed }
        let name = namespace ?? server.freshNamespace()
        do throws(WireError) { namespaceID = try Namespace(name) } catch { throw .invalidName(error.description) }
        self.server = server
        self.control = control
        self.namespace = name
        self.logger = logger
    }

    deinit {
        let (isClosed, devices) = state.withLock { ($0.isClosed, $0.devices) }
        guard !isClosed else { return }
        server.faults.forget(namespaceID)
        guard !devices.isEmpty else { return control.discardSoon(namespaceID) }
        // A write of a device that still runs would make the namespace again.
        Task { [control, namespaceID] in
            for device in devices { await device.stop() }
            control.discardSoon(namespaceID)
        }
    }

    /// The server's URL, for other kinds of clients: `http://127.0.0.1:PORT`. This kit's paths are below `/v1/` and
    /// ``namespace``.
    public var url: String { server.url }

    // MARK: Devices

    /// The devices, in the order in which they were made.
    public var devices: [Device] { state.withLock { $0.devices } }

    /// Makes a device and starts it. Returns when the device's storage is open, which no fault delays; see
    /// ``waitUntilIdle(within:)``.
    ///
    /// - Parameters:
    ///   - name: the device's name in errors and faults, 1 to 64 of `A-Z a-z 0-9 . _ -`; each device of a kit needs a
    ///     different one.
    ///   - following: the changes that the device stores.
    ///   - storage: where the device stores them. With a directory it can be stopped and started again with the same
    ///     data.
    ///   - change: changes other settings. The kit sets server, namespace and token; back-offs are short, 5 to 50 ms.
    /// - Throws: ``TestKitError/nameTaken(_:)``, ``TestKitError/invalidName(_:)``, ``TestKitError/closed``, or a `ClientError`.
    @discardableResult
    public func device(
        _ name: String, following: SyncClient.Configuration.Following = .everything, storage: SyncClient.Configuration.Storage = .memory,
        _ change: (inout SyncClient.Configuration) -> Void = { _ in }
    ) async throws -> Device {
        do throws(WireError) { _ = try ClientIdentifier(name) } catch {
            throw TestKitError.invalidName("'\(name)' names no device: it takes 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        var configuration = SyncClient.Configuration(url: url, namespace: namespace, storage: storage)
        configuration.following = following
        configuration.firstDelay = .milliseconds(5)
        configuration.longestDelay = .milliseconds(50)
        configuration.logger = logger
        change(&configuration)
        (configuration.url, configuration.namespace) = (url, namespace)
        let device = try Device(name, configuration)
        try add(device)
        do { try await device.start() } catch {
            state.withLock { state in state.devices.removeAll { $0 === device } }
            throw error
        }
        // A kit that was closed meanwhile may have stopped the device before it ran.
        do { try checkIsOpen() } catch {
            await device.stop()
            throw error
        }
        return device
    }

    /// Restarts a device as if its process had ended and another had started: the present client stops where it is,
    /// without sending or waiting, and the content of its memory is lost, including open sequences, receipts and merge
    /// closures. A new client starts with the same settings and the same directory. A device without a directory starts
    /// empty, under another client identifier.
    ///
    /// Every object that the app made of ``Device/client`` belongs to the earlier process: make each again, as the app
    /// does when it starts, with merge closures if it uses them. A call of ``waitUntilIdle(within:)`` that is in progress
    /// does not notice the new client. Do not restart the same device twice at the same time.
    ///
    /// ```swift
    /// try await phone.collection("notes", of: Note.self).setValue(Note(text: "Hello"), forKey: "1")    // not sent, the network is away
    /// try await kit.restart(phone)
    /// #expect(phone.collection("notes", of: Note.self)["1"]?.isPending == true)
    /// ```
    ///
    /// - Throws: ``TestKitError/unknownDevice(_:)``, ``TestKitError/closed``, or a `ClientError` of the start, after which the device is stopped.
    public func restart(_ device: Device) async throws {
        try checkIsOpen()
        guard devices.contains(where: { $0 === device }) else { throw TestKitError.unknownDevice(device.name) }
        try await device.restart()
        // A kit that was closed meanwhile has stopped only the earlier client.
        if state.withLock({ $0.isClosed }) { await device.stop() }
    }

    func checkIsOpen() throws(TestKitError) {
        guard !state.withLock({ $0.isClosed }), server.control != nil else { throw .closed }
    }

    private func add(_ device: Device) throws(TestKitError) {
        let failure = state.withLock { state -> TestKitError? in
            if state.isClosed { return .closed }
            if state.devices.contains(where: { $0.name == device.name }) { return .nameTaken(device.name) }
            state.devices.append(device)
            return nil
        }
        if let failure { throw failure }
    }

    /// Stops the devices, clears the faults and removes the namespace. A second call does nothing.
    public func close() async {
        let devices: [Device]? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.devices
        }
        guard let devices else { return }
        for device in devices { await device.stop() }
        // A server that is stopping discards the records anyway.
        server.faults.forget(namespaceID)
        try? await control.discard(namespaceID)
    }
}
