import FreshetClient
import FreshetWire
import Testing

@testable import FreshetTestKit

/// The reasons why a device is not at rest, computed from its state alone.
@Suite struct PendingWorkTests {
    private func status(
        _ connection: SyncClient.Status.Connection = .live, _ cursor: String? = "e1-7", waiting: Int = 0, isVerified: Bool = true,
        feedError: ClientError? = nil, writeError: ClientError? = nil
    ) throws -> SyncClient.Status {
        SyncClient.Status(
            connection: connection, cursor: try cursor.map { try Cursor($0) }, waitingWrites: waiting, isVerified: isVerified,
            feedError: feedError, writeError: writeError)
    }

    private func reasons(_ status: SyncClient.Status, hasNews: Bool = false) throws -> [String] {
        PendingWork.reasons(PendingWork.DeviceState(status: status, head: try Cursor("e1-7"), hasNews: hasNews))
    }

    @Test func aLiveDeviceAtTheHeadIsAtRest() throws {
        #expect(try reasons(status()) == [])
        // Also if the missing changes are none that the device follows
        #expect(try reasons(status(.live, "e1-5")) == [])
    }

    @Test func aStoppedDeviceWaitsForNothing() throws {
        #expect(try reasons(status(.stopped, nil, waiting: 3)) == [])
    }

    @Test func eachReasonIsSaid() throws {
        #expect(try reasons(status(waiting: 1)) == ["1 write has no verdict"])
        #expect(try reasons(status(waiting: 2, writeError: .outdated)) == ["2 writes have no verdict (\(ClientError.outdated))"])
        #expect(try reasons(status(.catchingUp)) == ["it is catching up"])
        #expect(
            try reasons(status(.offline(since: Timestamp(milliseconds: 0)), feedError: .unauthorized))
                == ["it is offline (\(ClientError.unauthorized))"])
        #expect(
            try reasons(status(isVerified: false))
                == ["it has not read all values that were invalidated, or are too large to come with the changes"])
        #expect(try reasons(status(.live, "e1-5"), hasNews: true) == ["it is at e1-5, and the server at e1-7"])
        #expect(try reasons(status(.live, "e0-7")) == ["it is at e0-7, and the server at e1-7"])
        #expect(try reasons(status(.catchingUp, nil)) == ["it is catching up", "it has no position yet, and the server is at e1-7"])
    }
}
