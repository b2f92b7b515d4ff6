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

    /// What the device shows of a record without asking the server.
    private func shown(_ id: String, on device: TestKit.Device) async throws -> Snapshot<Note> {
        try await device.notes.snapshot(forKey: id, policy: .cacheOnly)
    }

    /// A text that is too large to come with the changes.
    private func large(_ number: Int) -> Note { Note(text: "\(number)" + String(repeating: "x", count: 100_000)) }

    @Test("a value that is too large to come with the changes is waited for, and so is a copy that was invalidated")
    func valuesThatAreReadAfterwards() async throws {
        // Given
        let kit = try TestKit()
        let phone = try await kit.device("phone"), watch = try await kit.device("watch", following: .cachedRecords)
        var observer = watch.notes.snapshots(forKey: "small").makeAsyncIterator()
        _ = try await observer.next()
        for number in 1...40 {
            // When
            try await kit.notes.setValue(large(number), forKey: "large")
            try await kit.notes.setValue(Note(text: "\(number)"), forKey: "small")
            try await kit.waitUntilIdle()
            // Then
            #expect(try await shown("large", on: phone).value == large(number))
            for device in [phone, watch] { #expect(try await shown("small", on: device).value == Note(text: "\(number)")) }
            // When
            try await phone.client.invalidate(number % 2 == 0 ? .everything : .collection("notes", prefix: ""))
            try await kit.waitUntilIdle()
            // Then
            #expect(try await shown("large", on: phone).freshness == .live)
            for device in [phone, watch] { #expect(try await shown("small", on: device).freshness == .live) }
        }
        _ = try await observer.next()
        await kit.close()
    }

    @Test("a read that is held up is a reason to wait", arguments: [false, true])
    func heldUpReads(isInvalidated: Bool) async throws {
        // Given
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        try await kit.notes.setValue(large(1), forKey: "1")
        try await kit.waitUntilIdle()
        // When a value cannot be read
        try kit.fault(.freeze, on: .reads, of: phone, times: .untilCleared)
        try kit.fault(.freeze, on: .records, of: phone, times: .untilCleared)
        if isInvalidated {
            try await phone.client.invalidate(.everything)
        } else {
            try await kit.notes.setValue(large(2), forKey: "1")
        }
        for await status in phone.client.statuses where !status.isVerified { break }
        // Then
        await #expect { try await kit.waitUntilIdle(within: .milliseconds(1)) } throws: { error in
            guard case .notIdle(_, let waits, _)? = error as? TestKitError else { return false }
            return waits.contains { $0.device == "phone" && $0.reason.contains("too large to come with the changes") }
        }
        let verification = Task { try await phone.client.waitUntilVerified() }
        // When
        kit.clearFaults()
        try await kit.waitUntilIdle()
        try await verification.value
        // Then
        let found = try await shown("1", on: phone)
        #expect(found.value == large(isInvalidated ? 1 : 2) && found.freshness == .live)
        await kit.close()
    }

    @Test("the wait for verification returns what the server had at the call, of any size, and ends with its task")
    func verification() async throws {
        // Given a device that is live, and one without network
        let kit = try TestKit()
        let phone = try await kit.device("phone") { $0.collections = ["notes"] }, laptop = try await kit.device("laptop")
        try await kit.waitUntilIdle()
        for number in 1...40 {
            // When
            try await kit.notes.setValue(large(number), forKey: "1")
            try await phone.client.waitUntilVerified()
            // Then
            let found = try await shown("1", on: phone)
            #expect(found.value == large(number) && phone.status.isVerified)
            // When only others change, there is nothing to wait for
            try await kit.tallies.setValue(Tally(count: number), forKey: "1")
            try await phone.client.waitUntilVerified()
        }
        // When
        try kit.fault(.dropRequest, of: laptop, times: .untilCleared)
        let wait = Task { try await laptop.client.waitUntilVerified() }
        wait.cancel()
        // Then
        await #expect(throws: CancellationError.self) { try await wait.value }
        await phone.client.stop()
        await #expect(throws: ClientError.self) { try await phone.client.waitUntilVerified() }
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
