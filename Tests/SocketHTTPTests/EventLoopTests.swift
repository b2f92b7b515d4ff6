import Dispatch
import Glibc
import HTTPTypes
import Synchronization
import Testing

@testable import FreshetSocketHTTP

/// A loop returns to Dispatch whenever it has nothing to do, so each way to wake it must be tested.
@Suite("Event loop", .timeLimit(.minutes(5)))
struct EventLoopTests {
    @Test("A message wakes a loop that sleeps, each time")
    func wakesFromSleep() async throws {
        // Given a loop without sockets, asleep but for this test
        let loops = try EventLoopPool.take(1)

        // When a message is posted a thousand times, each after the previous one was handled, Then it is handled
        for _ in 0..<1000 {
            await withCheckedContinuation { continuation in loops[0].post(.perform { _ in continuation.resume() }) }
        }
        EventLoopPool.giveBack(loops)
    }

    @Test("A message makes the descriptor of an idle loop readable until a turn has handled it")
    func isReadableWhileThereIsWork() throws {
        // Given an idle loop that nothing drives
        let loop = try EventLoop.make()
        let steps = Steps()
        #expect(!isReadable(loop))

        // When messages are posted, Then the descriptor is readable
        for name in ["first", "second"] { loop.post(.perform { _ in steps.names.withLock { $0.append(name) } }) }
        #expect(isReadable(loop))

        // When the loop runs until it is idle, Then both have been handled and the descriptor is not readable
        loop.own { while loop.runTurn(patience: 0) {} }
        #expect(steps.names.withLock { $0 } == ["first", "second"])
        #expect(!isReadable(loop))

        // When another message is posted, Then the descriptor is readable again
        loop.post(.perform { _ in })
        #expect(isReadable(loop))
    }

    @Test("A turn that leaves work asks for another turn")
    func asksForAnotherTurn() throws {
        // Given a loop with a message that posts another one
        let loop = try EventLoop.make()
        loop.post(.perform { loop in loop.post(.perform { _ in }) })

        // When turns run, Then both messages have their turn before the loop is idle
        var turns: [Bool] = []
        loop.own { for _ in 0..<3 { turns.append(loop.runTurn(patience: 0)) } }
        #expect(turns == [true, true, false])
    }

    @Test("A loop that waits for more work continues with a message that arrives meanwhile")
    func waitsForMore() throws {
        // Given a loop on which another thread posts a message as soon as the loop may be waiting
        let loop = try EventLoop.make()
        let isHandled = Signal()
        let poster = DispatchQueue(label: "poster")
        loop.post(.perform { loop in poster.async { loop.post(.perform { _ in isHandled.happen() }) } })

        // When the loop runs with unlimited patience, Then it handles the message in the same run
        loop.own { while !isHandled.hasHappened { #expect(loop.runTurn(patience: -1)) } }
    }

    private func isReadable(_ loop: EventLoop) -> Bool {
        var descriptor = pollfd(fd: loop.epoll.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 1
    }

    @Test("Messages from many threads are handled exactly once, those of one thread in order")
    func takesFromMany() async throws {
        let loops = try EventLoopPool.take(1)
        let steps = Steps()
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask {
                    for number in 0..<2000 { loops[0].post(.perform { _ in steps.names.withLock { $0.append("\(sender) \(number)") } }) }
                    await withCheckedContinuation { continuation in loops[0].post(.perform { _ in continuation.resume() }) }
                }
            }
        }
        let names = steps.names.withLock { $0 }
        #expect(names.count == 8000)
        for sender in 0..<4 { #expect(names.filter { $0.hasPrefix("\(sender) ") } == (0..<2000).map { "\(sender) \($0)" }) }
        EventLoopPool.giveBack(loops)
    }

    @Test("A message that a loop posts to itself is handled after the current one, and one that it submits at once")
    func asksItself() async throws {
        let loops = try EventLoopPool.take(1)
        let order: [String] = await withCheckedContinuation { continuation in
            loops[0].post(
                .perform { loop in
                    let steps = Steps()
                    loop.post(.perform { _ in continuation.resume(returning: steps.names.withLock { $0 + ["posted"] }) })
                    loop.submit(.perform { _ in steps.names.withLock { $0.append("submitted") } })
                    steps.names.withLock { $0.append("returned") }
                })
        }
        #expect(order == ["submitted", "returned", "posted"])
        EventLoopPool.giveBack(loops)
    }

    @Test("Messages without end leave sockets their turn")
    func isFair() async throws {
        // Given a loop that always has another message
        let isOver = Signal()
        let server = try TestServer(adding: { router in
            router.on(.get, "/storm") { _, exchange in
                EventLoopTests.storm(on: exchange.handle.connection.loop, until: isOver)
                exchange.respond(.text("begun"))
            }
            router.on(.get, "/calm") { _, exchange in
                isOver.happen()
                exchange.respond(.text("calm"))
            }
        })
        let client = Client(try RawClient(port: server.port))

        // When a request comes, Then it is answered
        for path in ["storm", "calm"] {
            try await client.run { $0.send("GET /\(path) HTTP/1.1\r\nHost: x\r\n\r\n") }
            #expect(try await client.run { try $0.reply().status } == 200)
        }
        await server.server.drain()
    }

    private static func storm(on loop: EventLoop, until isOver: Signal) {
        loop.post(.perform { loop in if !isOver.hasHappened { storm(on: loop, until: isOver) } })
    }
}

private final class Steps: Sendable {
    let names = Mutex<[String]>([])
}
