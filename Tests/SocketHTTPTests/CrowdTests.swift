import Glibc
import HTTPTypes
import Synchronization
import Testing

@testable import SocketHTTP

/// The members of a crowd must be treated as if each waited alone.
@Suite("Crowds", .timeLimit(.minutes(1)))
struct CrowdTests {
    /// Holds crowds, and reports the members that leave them.
    private final class Keeper: RepeatHandler, CrowdListener {
        let crowds = Held<Crowd>(weight: \.count)
        let left = Held<(member: Crowd.Member, key: UInt64)>()

        func handle(_ crowd: Crowd) { crowds.add(crowd) }
        func admits(to key: UInt64) -> Bool { false }
        func hungUp(_ member: Crowd.Member, of key: UInt64) { left.add((member, key)) }
    }

    private static func poll(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n" }

    /// A server whose loop is held up, clients that it has accepted, and polls whose heads it knows.
    private struct Scene {
        let held: HeldServer
        let loop: EventLoop
        let keepers: [Keeper]
        let clients: [Client]

        init(clients count: Int, keepers: [Keeper] = [Keeper()]) async throws {
            held = try HeldServer { router in
                for (number, keeper) in keepers.enumerated() {
                    router.on(.get, "/\(number)") { request, exchange in
                        request.onRepeat(keeper)
                        exchange.respond(.text("first"))
                    }
                }
            }
            self.keepers = keepers
            clients = try [held].flatMap { held in try (0..<count).map { _ in Client(try RawClient(port: held.server.port)) } }
            for client in clients {
                try await client.run { $0.send(CrowdTests.poll("/ok")) }
                #expect(try await client.run { try $0.reply().text } == "ok")
            }
            for number in keepers.indices {
                try await clients[0].run { $0.send(CrowdTests.poll("/\(number)")) }
                #expect(try await clients[0].run { try $0.reply().text } == "first")
            }
            loop = try await held.hold()
        }

        func send(_ number: Int, _ poll: Int = 0) async throws { try await clients[number].run { $0.send(CrowdTests.poll("/\(poll)")) } }
        func text(_ number: Int) async throws -> String { try await clients[number].run { try $0.reply().text } }
        func sendAll() async throws { for number in clients.indices { try await send(number) } }

        /// Lets the loop continue once all requests have reached its sockets, so that one `epoll_wait` finds them all.
        func open() async throws {
            while loop.connections.count(where: { $0.map { Self.hasInput($0.descriptor) } ?? false }) < clients.count { await Task.yield() }
            try await held.open()
        }

        private static func hasInput(_ descriptor: Int32) -> Bool {
            var byte: UInt8 = 0
            return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
        }

        /// The only crowd that has gathered.
        func crowd() async throws -> Crowd {
            try await open()
            let crowds = await keepers[0].crowds.take(clients.count)
            #expect(crowds.map(\.count) == [clients.count])
            return crowds[0]
        }

        /// A crowd of all clients; one of them leaves before or after the listener is set.
        func crowd(left number: Int, isEarly: Bool, _ leave: @escaping @Sendable (RawClient) -> Void) async throws -> Crowd {
            try await sendAll()
            if isEarly { try await clients[number].run(leave) }
            let crowd = try await crowd()
            crowd.watch(keepers[0], 7)
            if !isEarly { try await clients[number].run(leave) }
            return crowd
        }

        /// The next member that hangs up, split off on the loop.
        func split(_ crowd: Crowd) async throws -> Exchange {
            let (member, key) = await keepers[0].left.take(1)[0]
            #expect(key == 7)
            return await onLoop { crowd.split(member) }
        }

        func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await withCheckedContinuation { continuation in loop.post(.perform { _ in continuation.resume(returning: body()) }) }
        }
    }

    @Test("Requests that arrived while the loop was busy wait as one, and are answered as one, once")
    func together() async throws {
        // Given
        let scene = try await Scene(clients: 20)
        try await scene.sendAll()
        // When
        let crowd = try await scene.crowd()
        // Then
        #expect(crowd.respond(EncodedResponse(.text("change"))))
        #expect(!crowd.respond(EncodedResponse(.text("again"))))
        for number in scene.clients.indices { #expect(try await scene.text(number) == "change") }
        // And the clients may send their requests again
        try await scene.sendAll()
        for crowd in await scene.keepers[0].crowds.take(20) { crowd.respond(EncodedResponse(.text("second"))) }
        for number in scene.clients.indices { #expect(try await scene.text(number) == "second") }
    }

    @Test("Each member of a crowd may get a separate response")
    func each() async throws {
        // Given
        let scene = try await Scene(clients: 3)
        try await scene.sendAll()
        let crowd = try await scene.crowd()
        let number = Atomic<Int>(0)
        // When
        let isAnswered = crowd.respond { .text("\(number.add(1, ordering: .relaxed).newValue)") }
        // Then
        #expect(isAnswered && !crowd.respond { .text("again") })
        var texts: [String] = []
        for number in scene.clients.indices { texts.append(try await scene.text(number)) }
        #expect(texts.sorted() == ["1", "2", "3"])
    }

    @Test("If a crowd is released without an answer, each member is answered 500")
    func unanswered() async throws {
        // Given
        let scene = try await Scene(clients: 3)
        try await scene.sendAll()
        // When
        _ = try await scene.crowd()
        // Then
        for client in scene.clients { #expect(try await client.run { try $0.reply().status } == 500) }
    }

    @Test("A member that ends its input is answered separately, and the others later", arguments: [false, true])
    func halfClosed(isEarly: Bool) async throws {
        // Given three members of a crowd, of which one ends its input, before or after the listener is set
        let scene = try await Scene(clients: 3)
        let crowd = try await scene.crowd(left: 1, isEarly: isEarly) { $0.finish() }

        // When
        let exchange = try await scene.split(crowd)
        #expect(exchange.respond(.text("alone")))

        // Then
        let reply = try await scene.clients[1].run { try $0.reply() }
        #expect(reply.text == "alone" && reply["Connection"] == "close")
        #expect(try await scene.clients[1].run { try $0.isAtEnd() })
        #expect(crowd.respond(EncodedResponse(.text("change"))))
        for number in [0, 2] { #expect(try await scene.text(number) == "change") }
    }

    @Test("A member that disconnects is reported, and the connection that reuses its descriptor gets no answer", arguments: [false, true])
    func gone(isEarly: Bool) async throws {
        // Given three members of a crowd, of which one disconnects, before or after the listener is set
        let scene = try await Scene(clients: 3)
        let crowd = try await scene.crowd(left: 1, isEarly: isEarly) { $0.reset() }

        // When
        let exchange = try await scene.split(crowd)
        #expect(!exchange.respond(.text("nobody")))
        let newcomer = Client(try RawClient(port: scene.held.server.port))
        try await newcomer.run { $0.send(Self.poll("/ok")) }
        #expect(try await newcomer.run { try $0.reply().text } == "ok")

        // Then
        #expect(crowd.respond(EncodedResponse(.text("change"))))
        for number in [0, 2] { #expect(try await scene.text(number) == "change") }
        try await newcomer.run { $0.send(Self.poll("/ok")) }
        #expect(try await newcomer.run { try $0.reply().text } == "ok")
    }

    @Test("After the answer no disconnect is reported, and no member can be split off")
    func answered() async throws {
        // Given
        let scene = try await Scene(clients: 2)
        let crowd = try await scene.crowd(left: 1, isEarly: false) { $0.finish() }
        let (member, _) = await scene.keepers[0].left.take(1)[0]
        crowd.respond(EncodedResponse(.text("change")))
        for number in [0, 1] { #expect(try await scene.text(number) == "change") }
        // When
        let exchange = await scene.onLoop { crowd.split(member) }
        try await scene.clients[0].run { $0.finish() }
        // Then
        #expect(!exchange.respond(.text("again")))
        for client in scene.clients { #expect(try await client.run { try $0.isAtEnd() }) }
        #expect(scene.keepers[0].left.takeAll().isEmpty)
    }

    @Test("Different requests form different crowds")
    func kinds() async throws {
        // Given two known polls
        let scene = try await Scene(clients: 6, keepers: [Keeper(), Keeper()])
        // When they arrive alternately while the loop is busy
        for number in 0..<6 { try await scene.send(number, number % 2) }
        try await scene.open()
        // Then
        for (number, keeper) in scene.keepers.enumerated() {
            let crowds = await keeper.crowds.take(3)
            #expect(crowds.map { $0.respond(EncodedResponse(.text("\(number)"))) } == [true])
        }
        for number in 0..<6 { #expect(try await scene.text(number) == "\(number % 2)") }
    }

    @Test("A crowd whose members have all left is released without an answer")
    func emptied() async throws {
        // Given
        let scene = try await Scene(clients: 2)
        try await scene.sendAll()
        var crowd: Crowd? = try await scene.crowd()
        crowd?.watch(scene.keepers[0], 7)
        // When
        for number in [0, 1] {
            try await scene.clients[number].run { $0.finish() }
            if let crowd { #expect(try await scene.split(crowd).respond(.text("alone"))) }
        }
        crowd = nil
        // Then only the disconnects are reported, and its slot serves another crowd
        for client in scene.clients {
            #expect(try await client.run { try $0.reply().text } == "alone")
            #expect(try await client.run { try $0.isAtEnd() })
        }
        let newcomer = Client(try RawClient(port: scene.held.server.port))
        try await newcomer.run { $0.send(Self.poll("/0")) }
        for crowd in await scene.keepers[0].crowds.take(1) { crowd.respond(EncodedResponse(.text("next"))) }
        #expect(try await newcomer.run { try $0.reply().text } == "next")
    }
}
