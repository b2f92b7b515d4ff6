import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import freshet

/// Tests that the demo reports wrong values.
struct DemoScriptTests {
    private func tier(_ values: [String: (revision: Int64, value: String)]) throws -> TierContents {
        var tier = TierContents()
        for (id, held) in values {
            tier.entries[try RecordKey(collection: "c", id: id)] = TierContents.Entry(
                revision: held.revision, value: Array(held.value.utf8))
        }
        return tier
    }

    @Test func equalTiersAreSaidToBe() throws {
        let truth = try tier(["1": (1, "a"), "2": (2, "b")])
        #expect(truth.description(against: truth) == "2 as the server")
    }

    @Test func everyKindOfDifferenceIsTold() throws {
        // Given a server, and a cache that lacks a record, has one too many, and an old one
        let truth = try tier(["1": (1, "a"), "2": (3, "new"), "4": (4, "d")])
        let cache = try tier(["2": (2, "old"), "3": (1, "c"), "4": (4, "d")])
        // Then all three are named
        #expect(
            cache.description(against: truth)
                == "3, where c/1 is missing, at the server a at revision 1; c/2: old at revision 2 instead of new at revision 3; "
                + "c/3: c at revision 1, which the server does not have")
    }

    @Test func aCheckThatFailsShowsBothAndIsKept() {
        // Given a narrator
        let printed = Mutex<[String]>([])
        var output = DemoOutput(style: Style(isTerminal: false, environment: Environment([:]))) { line in
            printed.withLock { $0.append(line) }
        }
        // When one of two checks does not hold
        output.begin("Count")
        output.check("there is one", expected: "1", seen: "1")
        output.check("there are two", expected: "2", seen: "3")
        // Then it prints the expected and the observed value
        #expect(output.checks == 2)
        #expect(output.failures == ["step 1: there are two"])
        #expect(
            printed.withLock { $0 } == [
                "", "1. Count", "   ok there is one", "   FAILED there are two", "      expected: 2", "      seen:     3",
            ])
    }

    @Test(arguments: [
        (Duration.microseconds(840), "0.8 ms"), (.milliseconds(63), "63 ms"), (.milliseconds(1_240), "1.24 s"), (.seconds(61), "61.00 s"),
    ])
    func timesAreForPeople(duration: Duration, text: String) {
        #expect(duration.text == text)
    }

    @Test func aPulledCableBreaksConnectionsUntilItIsPluggedIn() async throws {
        // Given a server behind a cable
        let folder = TemporaryDirectory()
        let server = try await ServerProcess.start(executable: Program.path, data: folder.path + "/data")
        let link = try FaultProxy(to: server.port)
        let freshet = Program(server: link.url)
        #expect(try await freshet("put", "c/1", "1").status == 0)
        // When the cable is pulled, and plugged in again
        link.refuse()
        #expect(try await freshet("get", "c/1").status == ExitStatus.unavailable.rawValue)
        link.acceptAgain()
        #expect(try await freshet("get", "c/1").output == "1")
        #expect(await server.stop() == .exited(0))
    }

    @Test func aWaitIsBounded() async {
        let failure = await #expect(throws: freshet.CommandFailure.self) {
            try await freshet.within(.milliseconds(1), "what never comes") { try await Task.sleep(for: .seconds(3_600)) }
        }
        #expect(failure?.message == "waited 1.0 ms for what never comes, in vain")
    }
}
