import FreshetClient
import FreshetTestKit
import FreshetWire
import Testing

/// When all devices are at rest, and the error when they are not.
@Suite(.timeLimit(.minutes(5))) struct IdleTests {
    @Test func whatWasWrittenJustBeforeIsWaitedFor() async throws {
        // Given
        let kit = try TestKit()
        let phone = try await kit.device("phone"), laptop = try await kit.device("laptop")
        for number in 1...100 {
            // When, with nothing in between
            try await phone.notes.setValue(Note(text: "\(number)"), forKey: "1")
            try await kit.waitUntilIdle()
            // Then
            #expect(laptop.notes["1"]?.value == Note(text: "\(number)"))
            #expect(phone.notes["1"]?.isPending == false)
        }
        await kit.close()
    }

    @Test func whatTheBackendWroteJustBeforeIsWaitedFor() async throws {
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        for number in 1...100 {
            try await kit.notes.setValue(Note(text: "\(number)"), forKey: "1")
            try await kit.waitUntilIdle()
            #expect(phone.notes["1"]?.value == Note(text: "\(number)"))
        }
        await kit.close()
    }

    @Test func aDeviceThatFollowsAPartIsAtRestWhereThatPartIs() async throws {
        // Given a device that receives no changes of other collections
        let kit = try TestKit()
        let phone = try await kit.device("phone") { $0.collections = ["notes"] }
        try await kit.waitUntilIdle()
        // When
        try await kit.tallies.setValue(Tally(count: 1), forKey: "1")
        try await kit.waitUntilIdle()
        let (behind, head) = (try #require(phone.status.cursor), try await kit.cursor())
        try await kit.notes.setValue(Note(text: "mine"), forKey: "1")
        try await kit.waitUntilIdle()
        // Then
        #expect(behind.revision < head.revision)
        #expect(phone.notes["1"]?.value == Note(text: "mine"))
        await kit.close()
    }

    @Test func aKitWithoutDevicesIsAtRest() async throws {
        let kit = try TestKit()
        try await kit.waitUntilIdle(within: .seconds(5))
    }

    @Test func aDeviceThatIsStoppedIsPassedOver() async throws {
        // Given a stopped device with a write that waits
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        try kit.fault(.dropRequest, on: .writes, of: phone, times: .untilCleared)
        try await phone.notes.setValue(Note(text: "Hello"), forKey: "1")
        await phone.stop()
        // Then
        try await kit.waitUntilIdle()
        #expect(try await kit.notes.value(forKey: "1") == nil)
        await kit.close()
    }

    @Test func theErrorSaysWhoWaitsForWhat() async throws {
        // Given a device that cannot write and one that receives nothing
        let kit = try TestKit()
        let phone = try await kit.device("phone"), laptop = try await kit.device("laptop")
        try await kit.waitUntilIdle()
        try kit.fault(.answer(503), on: .writes, of: phone, times: .untilCleared)
        let lost = try kit.fault(.dropRequest, of: laptop, times: .untilCleared)
        try await phone.notes.setValue(Note(text: "Hello"), forKey: "1")
        try await kit.waitForFault(lost, times: 2)
        for await status in phone.client.statuses where status.writeError != nil { break }
        for await status in laptop.client.statuses { if case .offline = status.connection { break } }
        // When
        let error = await #expect(throws: TestKitError.self) { try await kit.waitUntilIdle(within: .milliseconds(20)) }
        // Then
        let text = error?.description ?? ""
        #expect(text.contains("  phone: 1 write has no verdict (the server refused the request: unavailable"))
        #expect(text.contains("  laptop: it is offline ("))
        #expect(text.contains("  answer on writes of phone, matched "))
        await kit.close()
    }

    @Test func aFaultThatDoesNotStrikeIsSaidNotTo() async throws {
        let kit = try TestKit()
        let armed = try kit.fault(.dropReply, on: .writes)
        let error = await #expect(throws: TestKitError.self) { try await kit.waitForFault(armed, within: .milliseconds(20)) }
        #expect(error == .faultNotMatched(after: .milliseconds(20), fault: "drop-reply on writes", matches: 0))
        #expect(error?.description.contains("drop-reply on writes") == true)
    }

    @Test func waitingEndsWithItsTask() async throws {
        // Given a kit that does not come to rest
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        try kit.fault(.freeze, times: .untilCleared)
        try await phone.notes.setValue(Note(text: "Hello"), forKey: "1")
        let waiting = Task { try await kit.waitUntilIdle(within: .seconds(3_600)) }
        // When
        waiting.cancel()
        // Then
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await kit.close()
    }
}
