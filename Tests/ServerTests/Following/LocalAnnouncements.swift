import Dispatch
import Synchronization

@testable import FreshetServer

/// Announcements between servers of one process, in the order in which they were sent unless a test loses or doubles
/// them.
final class LocalAnnouncements: Sendable {
    typealias Deliver = @Sendable (HeadFollower.Event) -> Void

    /// One server's connection.
    final class Connection: CommitAnnouncements {
        private let hub: LocalAnnouncements
        private let number: Int

        fileprivate init(_ hub: LocalAnnouncements, _ number: Int) {
            self.hub = hub
            self.number = number
        }

        func connect(_ deliver: @escaping Deliver) { hub.connect(number, deliver) }
        func send(_ message: HeadMessage) { hub.send(message, from: number) }
        func disconnect() { hub.state.withLock { $0.members[number] = nil } }
    }

    private struct State {
        var members: [Int: Deliver] = [:]
        var made = 0
    }

    private let queue = DispatchQueue(label: "announcements")
    private let state = Mutex(State())
    /// How often a message arrives at a server.
    private let copies: @Sendable (HeadMessage, _ receiver: Int) -> Int
    private let isReachable: Bool

    /// - Parameter isReachable: whether connections can be made.
    init(isReachable: Bool = true, copies: @escaping @Sendable (HeadMessage, _ receiver: Int) -> Int = { _, _ in 1 }) {
        self.isReachable = isReachable
        self.copies = copies
    }

    /// The connection of another server; the first has the number 0.
    func connection() -> Connection {
        Connection(
            self,
            state.withLock { state in
                state.made += 1
                return state.made - 1
            })
    }

    private func connect(_ number: Int, _ deliver: @escaping Deliver) {
        queue.async { [self] in
            guard isReachable else { return deliver(.lost) }
            state.withLock { $0.members[number] = deliver }
            deliver(.established)
        }
    }

    private func send(_ message: HeadMessage, from sender: Int) {
        queue.async { [self] in
            let members = state.withLock { $0.members }
            for (number, deliver) in members.sorted(by: { $0.key < $1.key }) {
                for _ in 0..<copies(message, number) { deliver(.received(message)) }
            }
            members[sender]?(.sent)
        }
    }
}
