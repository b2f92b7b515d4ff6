public import FreshetClient
internal import FreshetServer
internal import FreshetWire
public import Logging
internal import Synchronization

/// A namespace of a test's own on a real server in the test's process, devices that sync through it, and faults between them.
///
/// ```swift
/// let kit = try TestKit()
/// let phone = try await kit.device("phone"), laptop = try await kit.device("laptop")
/// try kit.fault(.dropReply, on: .writes, of: phone)          // the next acknowledgement is lost
/// try await phone.collection("notes", of: Note.self).set(Note(text: "Hello"), for: "1")
/// try await kit.quiesced()                                   // until everything has drained
/// #expect(laptop.collection("notes", of: Note.self)["1"]?.value?.text == "Hello")
/// ```
///
/// Kits share one server unless they are given one, so that tests run in parallel; none sees the records or the faults of another.
/// All members may be used from any thread or task. What a kit has made goes with it, some time later; ``close()`` waits for that.
public final class TestKit: Sendable {
    private struct State {
        var devices: [Device] = []
        var isClosed = false
    }

    /// The server that the kit is on.
    public let server: Server
    /// The namespace, which no other kit of this server has unless it was told to.
    public let namespace: String
    let space: Namespace
    let control: ServerControl
    private let logger: Logger
    private let state = Mutex(State())

    /// A kit with a fresh namespace. It takes well below a millisecond on a server that runs.
    ///
    /// - Parameters:
    ///   - server: the server; by default one for the whole process, in memory, which the first kit starts.
    ///   - namespace: a name for the namespace, in place of a fresh one. ``close()`` removes it all the same.
    ///   - logger: told of what devices log; nobody is by default, since faults make much of that.
    /// - Throws: ``TestKitError/serverFailed(_:)``, ``TestKitError/invalidName(_:)`` or ``TestKitError/closed``.
    public init(
        on server: Server? = nil, namespace: String? = nil,
        logger: Logger = Logger(label: "freshet.device") { _ in SwiftLogNoOpLogHandler() }
    ) throws(TestKitError) {
        let server = if let server { server } else { try Server.shared() }
        guard let control = server.control else { throw .closed }
        let name = namespace ?? server.freshNamespace()
        do throws(WireError) { space = try Namespace(name) } catch { throw .invalidName(error.description) }
        self.server = server
        self.control = control
        self.namespace = name
        self.logger = logger
    }

    deinit {
        if !state.withLock({ $0.isClosed }) { control.discardSoon(space) }
    }

    /// Where the server listens, for clients of other kinds: `http://127.0.0.1:PORT`. What is about this kit is below `/v1/` and ``namespace``.
    public var url: String { server.url }

    // MARK: Devices

    /// The devices, in the order in which they were made.
    public var devices: [Device] { state.withLock { $0.devices } }

    /// Makes a device and starts it. It returns when the device's storage is open, which a fault does not hinder; see ``quiesced(within:)``.
    ///
    /// - Parameters:
    ///   - name: what errors and faults call it, 1 to 64 of `A-Z a-z 0-9 . _ -`; each device of a kit has another.
    ///   - following: which changes it stores.
    ///   - storage: where it keeps them. Give it a directory to stop it and start it again with what it had.
    ///   - change: changes other settings. Those of server, namespace and token are the kit's own; back-offs are short, 5 to 50 ms.
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
        return device
    }

    /// Restarts a device as the end of its process and the start of the next one would: the present client stops where it is, with nothing sent or
    /// waited for, and what is in its memory is lost, open sequences, receipts and merge closures too. A new client starts with the same settings
    /// and the same directory. A device without a directory starts from nothing, under another name.
    ///
    /// Everything that the app made of ``Device/client`` belongs to the earlier process: make it again, as the app does when it starts, with merge
    /// closures where it uses them. A call of ``quiesced(within:)`` that is under way does not notice the new client. Restart a device once at a
    /// time.
    ///
    /// ```swift
    /// try await phone.collection("notes", of: Note.self).set(Note(text: "Hello"), for: "1")    // not sent, the network is away
    /// try await kit.restart(phone)
    /// #expect(phone.collection("notes", of: Note.self)["1"]?.isPending == true)
    /// ```
    ///
    /// - Throws: ``TestKitError/unknownDevice(_:)``, ``TestKitError/closed``, or a `ClientError` of the start, after which the device is stopped.
    public func restart(_ device: Device) async throws {
        let failure = state.withLock { state -> TestKitError? in
            if state.isClosed { return .closed }
            return state.devices.contains { $0 === device } ? nil : .unknownDevice(device.name)
        }
        if let failure { throw failure }
        try await device.restart()
        // A kit that was closed meanwhile has stopped the earlier client.
        if state.withLock({ $0.isClosed }) { await device.stop() }
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

    /// Stops the devices, lifts the faults and removes the namespace. A second call does nothing.
    public func close() async {
        let devices: [Device]? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.devices
        }
        guard let devices else { return }
        for device in devices { await device.stop() }
        // A server that is stopping takes its records along anyway.
        try? await control.discard(space)
    }
}
