import FreshetWire
import Testing

@testable import FreshetClient

/// The lines in a client's log when contact is lost and back.
@Suite("The log of a client's contact") struct StatusLogTests {
    private let since = Timestamp(milliseconds: 0)

    private func lines(_ statuses: SyncClient.Status...) -> [String] {
        zip(statuses, statuses.dropFirst()).flatMap { before, after in after.messages(after: before).map { "\($0.level): \($0.text)" } }
    }

    @Test("has one line for an outage and one for its end, though attempts fail in different ways")
    func outage() {
        // Given a client that loses the server, whose attempts fail in different ways
        let first = ClientError.unreachable("refused")
        let lines = lines(
            .init(connection: .live), .init(connection: .offline(since: since), feedError: first),
            .init(connection: .offline(since: since), feedError: .unreachable("timed out")),
            .init(connection: .catchingUp), .init(connection: .live))
        // Then
        #expect(lines == ["warning: changes are not followed: \(first)", "info: changes are followed again"])
    }

    @Test("has a line when the failure becomes another kind, such as a refused token")
    func otherKind() {
        let lost = ClientError.unreachable("refused")
        let refused = ClientError.unauthorized
        let lines = lines(
            .init(connection: .catchingUp), .init(connection: .offline(since: since), feedError: lost),
            .init(connection: .unauthorized(since: since), feedError: refused))
        #expect(lines == ["warning: changes are not followed: \(lost)", "warning: changes are not followed: \(refused)"])
    }

    @Test("names the store of another server at the first contact")
    func otherStore() {
        let other = ClientError.otherStore(found: "b", expected: "a")
        let lines = lines(.init(connection: .stopped), .init(connection: .offline(since: since), feedError: other))
        #expect(lines == ["warning: changes are not followed: \(other)"])
    }

    @Test("reports writes that are not sent apart from the feed")
    func writes() {
        let failure = ClientError.unreachable("refused")
        let lines = lines(
            .init(connection: .live, waitingWrites: 1), .init(connection: .live, waitingWrites: 1, writeError: failure),
            .init(connection: .live))
        #expect(lines == ["warning: writes are not sent: \(failure)", "info: writes are sent again"])
    }
}
