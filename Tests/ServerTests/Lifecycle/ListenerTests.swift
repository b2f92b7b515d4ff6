import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Glibc
import Synchronization
import Testing

@testable import FreshetServer

@Suite("Listeners of a server") struct ListenerTests {
    private let folder = TemporaryDirectory()
    private var path: String { folder.file("admin.sock") }

    private func configuration(_ change: (inout RecordServerConfiguration) -> Void = { _ in }) -> RecordServerConfiguration {
        var configuration = RecordServerConfiguration()
        configuration.adminSocket = path
        change(&configuration)
        return configuration
    }

    /// Sends a request over the admin socket.
    private func operate(
        _ test: TestServer, _ method: String, _ target: String, _ fields: [(String, String)] = [], _ body: String? = nil
    ) async throws -> Reply {
        try await test.thread(socket: path) { try $0.request(method, target, fields, body: body.map { Array($0.utf8) }) }
    }

    private func mode(_ path: String) -> UInt32? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : nil
    }

    // MARK: Addresses

    @Test("a server answers at all of its addresses, with the same records")
    func addresses() async throws {
        var configuration = RecordServerConfiguration()
        configuration.otherListeners = [.init(host: "127.0.0.1", port: 0), .init(host: "::1", port: 0)]
        try await TestServer.with(configuration) { test in
            // Given
            let addresses = test.server.addresses
            #expect(addresses.map(\.host) == ["127.0.0.1", "127.0.0.1", "::1"] && Set(addresses.map(\.port)).count == 3)
            #expect(addresses.first == test.server.address && addresses[2].url == "http://[::1]:\(addresses[2].port)")
            // When
            try await test.put("/v1/shop/records/a/1", "1")
            // Then
            let other = try await test.thread(port: addresses[1].port) { try $0.request("GET", "/v1/shop/records/a/1").text }
            #expect(other == "1")
            // And without a listener for operators, each serves them
            let ready = try await test.thread(port: addresses[1].port) { try $0.request("GET", "/readyz").status }
            #expect(ready == 200)
        }
    }

    @Test("an address that is taken stops the start, and releases the others")
    func takenAddress() async throws {
        try await TestServer.with { test in
            // Given
            let free = try await FreePort.shared.next()
            var configuration = configuration { $0.port = free }
            configuration.otherListeners = [.init(host: "127.0.0.1", port: test.port)]
            // When
            #expect(throws: RecordServerError.addressInUse(host: "127.0.0.1", port: test.port)) { try RecordServer.running(configuration) }
            // Then
            #expect(mode(path) == nil)
            configuration.otherListeners = []
            let server = try RecordServer.running(configuration)
            #expect(server.address?.port == free)
            await server.stop()
        }
    }

    @Test("an address for operators has their endpoints alone, and takes administrators' keys")
    func adminAddress() async throws {
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        configuration.adminListener = .init(host: "127.0.0.1", port: 0)
        try await TestServer.with(configuration) { test in
            // Given
            let server = AccessServer(test: test)
            let all = #"[{"ns":"*","in":["*"],"may":["read","write","create"]}]"#
            let (administrator, other) = (try server.key(all, isAdmin: true).field, try server.key(all).field)
            let port = test.server.addresses[1].port
            let status = { @Sendable (target: String, key: (String, String)?, port: Int) in
                try await test.thread(port: port) { try $0.request("GET", target, key.map { [$0] } ?? []).status }
            }
            // Then
            for target in ["/metrics", "/readyz", "/admin/keys", "/v1"] {
                #expect(try await status(target, administrator, test.port) == 404, "\(target)")
                #expect(try await status(target, administrator, port) == 200, "\(target)")
                #expect(try await status(target, nil, port) == 401, "\(target)")
            }
            #expect(try await status("/metrics", other, port) == 403)
            #expect(try await status("/v1/shop/records/a", other, port) == 200)
            #expect(try await status("/healthz", nil, test.port) == 200)
        }
    }

    // MARK: The admin socket

    @Test("a process that opens the admin socket is the operator, under any host and with any credential", arguments: [false, true])
    func operates(requiresKeys: Bool) async throws {
        try await TestServer.with(configuration { $0.requiresKeys = requiresKeys }) { test in
            // Given
            #expect(mode(path) == S_IFSOCK | 0o600 && test.server.addresses.map(\.url) == [test.server.url, "unix:\(path)"])
            for target in ["/metrics", "/readyz", "/v1", "/healthz", "/openapi.json"] {
                #expect(try await operate(test, "GET", target).status == 200, "\(target)")
            }
            let wrong = [("Authorization", "Bearer nonsense"), ("Origin", "https://evil.example")]
            #expect(try await operate(test, "PUT", "/v1/shop/records/a/1", TestServer.json + wrong, "1").status == 201)
            let named = try await test.thread(socket: path) { connection in
                try connection.send(Array("GET /v1/shop/records/a/1 HTTP/1.1\r\nHost: operator.example\r\n\r\n".utf8))
                return try connection.readReply().text
            }
            #expect(named == "1")
            #expect(try await operate(test, "GET", "/v1").text.contains(#""namespaces":["shop"]"#))
            // When the operator makes a key
            let made = try await operate(
                test, "POST", "/admin/keys", TestServer.json, #"{"name":"till","allow":[{"ns":"shop","in":["a"],"may":["read"]}]}"#)
            // Then it is valid elsewhere
            guard requiresKeys else { return #expect(made.status == 404) }
            #expect(made.status == 201)
            let token = made.text.split(separator: #""key":""#).last?.split(separator: "\"").first ?? ""
            #expect(try await test.request("GET", "/v1/shop/records/a/1", [("Authorization", "Bearer \(token)")]).text == "1")
            #expect(try await test.request("GET", "/v1/shop/records/a/1").status == 401)
            #expect(try await operate(test, "GET", "/v1/shop/rights").text.hasPrefix(#"{"principal":"operator","expires":null"#))
        }
    }

    @Test("changes of keys and revocations do not end the operator's waits")
    func waits() async throws {
        try await TestServer.with(configuration { $0.requiresKeys = true }) { test in
            // Given a poll, twice on one connection, and a stream
            _ = try await operate(test, "PUT", "/v1/shop/records/a/1", TestServer.json, "1")
            let cursor = try #require(try await operate(test, "GET", "/v1/shop/records/a/1").cursor)
            async let poll = test.thread(socket: path) { connection in
                _ = try connection.request("GET", "/v1/shop/changes?since=0&wait=60")
                return try connection.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60").status
            }
            async let stream = test.thread(socket: path) { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=\(cursor)", [("Accept", "text/event-stream")])
                _ = try connection.read(through: "\r\n\r\n")
                return try connection.read(through: "event: changes").count
            }
            try await test.thread(socket: path) { connection in
                while try connection.request("GET", "/v1/shop").message(NamespaceStatus.self).waiting < 2 {}
            }
            // When
            #expect(try await operate(test, "POST", "/admin/keys", TestServer.json, #"{"name":"n","admin":true}"#).status == 201)
            #expect(try await operate(test, "POST", "/admin/revocations", TestServer.json, #"{"jti":"t"}"#).status == 201)
            #expect(try await operate(test, "GET", "/v1/shop").message(NamespaceStatus.self).waiting == 2)
            _ = try await operate(test, "PUT", "/v1/shop/records/a/2", TestServer.json, "2")
            // Then
            #expect(try await poll == 200)
            #expect(try await stream > 0)
        }
    }

    @Test("the operator is served when clients have taken all connections")
    func reserve() async throws {
        try await TestServer.with(configuration { $0.connections = 2 }) { test in
            // Given
            try await test.thread { first in
                #expect(try first.request("GET", "/healthz").status == 200)
                let second = try RawConnection(port: test.port)
                #expect(try second.request("GET", "/healthz").status == 200)
                let third = try RawConnection(port: test.port)
                #expect(try third.readReply().status == 503)
                // Then
                #expect(try RawConnection(socket: path).request("GET", "/readyz").status == 200)
            }
        }
    }

    @Test("the file of a server that has ended is replaced, and that of one that runs is not")
    func staleFile() async throws {
        // Given a file at which nobody listens, as after a crash
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        #expect(bound == 0)
        close(descriptor)
        // When a server starts, and another one
        try await TestServer.with(configuration()) { (test: TestServer) async throws in
            #expect(try await operate(test, "GET", "/readyz").status == 200)
            let error = #expect(throws: RecordServerError.self) { try RecordServer.running(configuration()) }
            #expect(error?.description.contains("another process listens at \(path)") == true)
            #expect(try await operate(test, "GET", "/readyz").status == 200)
        }
        // Then the file is removed at the end
        #expect(mode(path) == nil)
    }

    @Test("a socket of another program that listens is not replaced")
    func foreignSocket() async throws {
        // Given
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        #expect(listen(descriptor, 1) == 0)
        // When
        let error = #expect(throws: RecordServerError.self) { try RecordServer.running(configuration()) }
        // Then
        #expect(error?.description.contains("another process listens") == true && mode(path).map { $0 & S_IFMT } == S_IFSOCK)
    }

    @Test("a file that took the place of the socket stays at the end")
    func replacedFile() async throws {
        try await TestServer.with(configuration()) { _ in
            unlink(path)
            folder.write(Array("mine".utf8), to: "admin.sock")
        }
        #expect(mode(path).map { $0 & S_IFMT } == S_IFREG)
    }

    @Test("a path at which no safe socket can be made is refused, with the reason")
    func unsafePaths() throws {
        folder.write(Array("file".utf8), to: "file")
        #expect(mkdir(folder.file("open"), 0o700) == 0 && chmod(folder.file("open"), 0o777) == 0)
        let cases = [
            (folder.file("file"), "no socket: choose another path"), (folder.file("open/s"), "chmod go-w \(folder.file("open"))"),
            (folder.file("none/s"), "make the folder"), (folder.file("file/s"), "file"),
            (folder.file(String(repeating: "a", count: 108)), "1 to 107 bytes"),
        ]
        for (path, reason) in cases {
            let error = #expect(throws: RecordServerError.self) { try RecordServer.running(configuration { $0.adminSocket = path }) }
            #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        }
    }

    // MARK: Reload

    @Test("reloads follow one another, so that an earlier configuration does not replace a later one")
    func concurrentReloads() async throws {
        // Given a source with another number each time
        let numbers = Atomic(0)
        let active = Atomic(0)
        let most = Mutex(0)
        let readable = { @Sendable (number: Int) -> RecordServerConfiguration in
            var configuration = RecordServerConfiguration()
            configuration.requiresKeys = true
            let rights = try? Rights(json: Array(#"[{"ns":"shop","in":["c\#(number)"],"may":["read"]}]"#.utf8))
            configuration.anonymous = rights ?? .none
            return configuration
        }
        var first = readable(0)
        first.source = { () throws(RecordServerError) in
            let count = active.add(1, ordering: .sequentiallyConsistent).newValue
            defer { active.subtract(1, ordering: .sequentiallyConsistent) }
            most.withLock { $0 = max($0, count) }
            let number = numbers.add(1, ordering: .sequentiallyConsistent).newValue
            for _ in 0..<100 { sched_yield() }
            return readable(number)
        }
        try await TestServer.with(first) { test in
            // When four threads reload at once
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await test.thread { _ in for _ in 0..<25 { try test.server.reload() } } } }
                try await group.waitForAll()
            }
            // Then the last one that was read is in force
            #expect(most.withLock { $0 } == 1)
            #expect(try await test.request("GET", "/v1/shop/records/c100").status == 200)
        }
    }

    @Test("a reload over the socket applies another configuration, or says why not and changes nothing")
    func reload() async throws {
        // Given a server that anybody may read, whose source a test changes
        let next = Mutex<Result<RecordServerConfiguration, RecordServerError>>(.failure(.invalidConfiguration("line 3 is wrong")))
        let readable = { (collection: String) in
            var configuration = configuration { $0.requiresKeys = true }
            configuration.anonymous = try Rights(json: Array(#"[{"ns":"shop","in":["\#(collection)"],"may":["read"]}]"#.utf8))
            return configuration
        }
        var first = try readable("articles")
        first.source = { () throws(RecordServerError) in try next.withLock { $0 }.get() }
        try await TestServer.with(first) { test in
            let status = { (collection: String) in try await test.request("GET", "/v1/shop/records/\(collection)").status }
            #expect(try await status("articles") == 200)
            // When the source is not valid, or changes a fixed setting
            let refused = try await operate(test, "POST", "/admin/reload")
            #expect(refused.status == 409 && refused.problem?.detail.contains("line 3 is wrong") == true)
            next.withLock { $0 = .success(configuration { $0.port = 1 }) }
            #expect(try await operate(test, "POST", "/admin/reload").problem?.detail.contains("cannot change listen") == true)
            // Then
            #expect(try await status("articles") == 200)
            // When it is
            let other = try readable("orders")
            next.withLock { $0 = .success(other) }
            #expect(try await operate(test, "POST", "/admin/reload").text == #"{"reloaded":true}"#)
            // Then
            #expect(try await status("articles") == 403)
            #expect(try await status("orders") == 200)
            #expect(try await test.request("POST", "/admin/reload").status == 404)
        }
        // And a server without a source has nothing to read
        try await TestServer.with(configuration()) { (test: TestServer) async throws in
            #expect(try await operate(test, "POST", "/admin/reload").status == 200)
        }
    }
}
