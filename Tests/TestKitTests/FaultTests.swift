import FreshetClient
import FreshetTestKit
import FreshetTestSupport
import Logging
import Synchronization
import Testing

/// Each fault over real sockets, between a real device and the server.
@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    /// A kit with a device that writes and one that reads, both at rest.
    private func pair() async throws -> (kit: TestKit, phone: TestKit.Device, laptop: TestKit.Device) {
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        let laptop = try await kit.device("laptop")
        try await kit.waitUntilIdle()
        return (kit, phone, laptop)
    }

    @Test(
        arguments: [
            .dropRequest, .dropReply, .cut, .duplicate, .answer(503), .answer(500), .delayReply(.milliseconds(20)),
            .delayRequest(.milliseconds(20)),
        ] as [TestKit.Fault])
    func aWriteTakesEffectOnceWhateverStrikesIt(_ fault: TestKit.Fault) async throws {
        // Given a fault on the write itself, on every request of the writer, and on all polls of the reader
        let (kit, phone, laptop) = try await pair()
        let atWrite = try kit.fault(fault, on: .writes, of: phone)
        try kit.fault(fault, of: phone, times: 3)
        let atNews = try kit.fault(fault, on: .changes, of: laptop, times: 2)
        // When
        for _ in 1...5 { try await phone.tallies.increment("/count", of: "visits") }
        try await kit.waitUntilIdle()
        // Then each write took effect once, and both devices show it
        #expect(try await kit.tallies.value(forKey: "visits") == Tally(count: 5))
        for device in kit.devices { #expect(device.tallies["visits"]?.value == Tally(count: 5)) }
        #expect(kit.matchCount(of: atWrite) == 1)
        // A poll that was already waiting may have received all changes at once: then the fault strikes the next one.
        try await kit.waitForFault(atNews)
        try await kit.waitUntilIdle()
        for device in kit.devices { #expect(device.tallies["visits"]?.value == Tally(count: 5)) }
        await kit.close()
    }

    @Test(arguments: 1...6) func incrementsAddUpWhereverTheAcknowledgementIsLost(_ number: Int) async throws {
        // Given that the acknowledgement of one batch of writes after another is lost
        let (kit, phone, laptop) = try await pair()
        try kit.fault(.dropReply, on: .writes, of: phone, times: .count(number))
        try kit.fault(.cut, on: .writes, of: laptop, times: .count(number))
        // When both devices count
        for device in [phone, laptop] {
            for _ in 1...10 { try await device.tallies.increment("/count", of: "visits") }
        }
        try await kit.waitUntilIdle()
        // Then no write is lost and none counts twice
        #expect(try await kit.tallies.value(forKey: "visits") == Tally(count: 20))
        #expect(kit.matchCount == 2 * number)
        await kit.close()
    }

    @Test(arguments: 1...8, [TestKit.Fault.dropReply, .cut, .duplicate])
    func theSumIsRightWhicheverAcknowledgementIsLost(_ place: Int, _ fault: TestKit.Fault) async throws {
        // Given that of eight acknowledgements one is lost
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        if place > 1 { try kit.fault(.delayReply(.zero), on: .writes, of: phone, times: .count(place - 1)) }
        let lost = try kit.fault(fault, on: .writes, of: phone)
        // When each increment waits for the acknowledgement of the previous one
        for _ in 1...8 { try await phone.tallies.increment("/count", of: "visits").waitUntilConfirmed() }
        // Then
        #expect(kit.matchCount(of: lost) == 1)
        #expect(try await kit.tallies.value(forKey: "visits") == Tally(count: 8))
        await kit.close()
    }

    @Test func aWriteWhoseDeviceRestartsBeforeItsAcknowledgementCountsOnce() async throws {
        // Given a write that took effect without its device's knowledge
        let kit = try TestKit()
        let folder = TemporaryDirectory()
        let phone = try await kit.device("phone", storage: .directory(folder.file("phone")))
        try await kit.waitUntilIdle()
        let lost = try kit.fault(.dropReply, on: .writes, times: .untilCleared)
        try kit.fault(.freeze, on: .changes, times: .untilCleared)
        try await phone.tallies.increment("/count", of: "visits")
        try await kit.waitForFault(lost)
        // When the device's process ends and starts again
        await phone.stop()
        kit.clearFaults()
        try await phone.start()
        try await kit.waitUntilIdle()
        // Then
        #expect(phone.tallies["visits"]?.value == Tally(count: 1))
        #expect(try await kit.tallies.value(forKey: "visits") == Tally(count: 1))
        await kit.close()
    }

    @Test func whatIsFrozenGoesOnWhenTheFaultsAreLifted() async throws {
        // Given a frozen write
        let (kit, phone, laptop) = try await pair()
        let frozen = try kit.fault(.freeze, on: .writes, of: phone, times: .untilCleared)
        try await phone.notes.setValue(Note(text: "Hello"), forKey: "1")
        try await kit.waitForFault(frozen)
        // Then it is pending, and has no effect
        #expect(phone.notes["1"]?.isPending == true && phone.status.waitingWrites == 1)
        #expect(try await kit.notes.value(forKey: "1") == nil)
        // When
        kit.clearFaults()
        try await kit.waitUntilIdle()
        // Then
        #expect(laptop.notes["1"]?.value == Note(text: "Hello"))
        await kit.close()
    }

    @Test func aFrozenSocketKeepsNewsFromADeviceThatWaits() async throws {
        // Given a laptop whose poll already waits
        let (kit, phone, laptop) = try await pair()
        let frozen = try kit.fault(.freeze, on: .changes, of: laptop, times: .untilCleared)
        try await kit.waitForFault(frozen)
        // When
        try await phone.notes.setValue(Note(text: "Hello"), forKey: "1").waitUntilConfirmed()
        let head = try await kit.cursor()
        for await status in phone.client.statuses where status.isLive && status.waitingWrites == 0 && status.cursor == head { break }
        // Then the laptop has not received the write, and the kit reports it
        #expect(laptop.notes["1"]?.value == nil)
        await #expect { try await kit.waitUntilIdle(within: .seconds(2)) } throws: { error in
            guard case TestKitError.notIdle(_, let waits, let faults) = error else { return false }
            return waits.map(\.device) == ["laptop"] && faults == ["freeze on changes of laptop, matched 1 times"]
        }
        // When
        kit.clearFaults()
        try await kit.waitUntilIdle()
        // Then
        #expect(laptop.notes["1"]?.value == Note(text: "Hello"))
        await kit.close()
    }

    @Test("a fault on the feed reaches a poll that is on its way to the server")
    func pollsInFlight() async throws {
        // Given a device that is live, so that its next poll is being sent
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        for _ in 1...300 {
            try await kit.waitUntilIdle()
            // When
            let fault = try kit.fault(.answer(503), on: .changes, of: phone)
            // Then the fault does not wait for the end of the poll
            try await kit.waitForFault(fault, within: .seconds(120))
        }
        await kit.close()
    }

    @Test func anExpiredTokenIsReplacedByAFreshOne() async throws {
        // Given
        let (kit, phone, laptop) = try await pair()
        let expired = try kit.expireToken(of: phone)
        // When
        try await phone.notes.setValue(Note(text: "Hello"), forKey: "1")
        try await kit.waitUntilIdle()
        // Then the device was refused, and accepted with the next token
        #expect(kit.matchCount(of: expired) > 0)
        #expect(laptop.notes["1"]?.value == Note(text: "Hello"))
        // And again with another token
        try kit.expireToken(of: phone)
        try await phone.notes.setValue(Note(text: "Again"), forKey: "1")
        try await kit.waitUntilIdle()
        #expect(laptop.notes["1"]?.value == Note(text: "Again"))
        await kit.close()
    }

    @Test func aDeviceWithoutANetworkCatchesUp() async throws {
        // Given a laptop whose requests are all lost
        let (kit, phone, laptop) = try await pair()
        try kit.fault(.dropRequest, of: laptop, times: .untilCleared)
        // When both write
        try await phone.notes.setValue(Note(text: "phone"), forKey: "1").waitUntilConfirmed()
        try await laptop.notes.setValue(Note(text: "laptop"), forKey: "2")
        #expect(laptop.notes["2"]?.isPending == true)
        kit.clearFaults()
        try await kit.waitUntilIdle()
        // Then both devices have both writes
        for device in kit.devices {
            #expect(device.notes["1"]?.value == Note(text: "phone") && device.notes["2"]?.value == Note(text: "laptop"))
        }
        await kit.close()
    }

    @Test("an observer is shown its records although the server fails more often than one read repeats", arguments: [false, true])
    func observerReads(ofCollection isCollection: Bool) async throws {
        // Given a live device that keeps the records it reads, and a server whose reads fail
        let warnings = Mutex<[String]>([])
        let kit = try TestKit(logger: Logger(label: "test") { _ in WarningLog { text in warnings.withLock { $0.append(text) } } })
        let phone = try await kit.device("phone", following: .cachedRecords)
        try await kit.notes.setValue(Note(text: "Hello"), forKey: "1")
        try await kit.waitUntilIdle()
        let fault = try kit.fault(.answer(503), on: .records, of: phone, times: .count(15))
        // When it observes
        if isCollection {
            _ = try await first(of: phone.notes.snapshots()) { $0.first?.value == Note(text: "Hello") }
        } else {
            _ = try await first(of: phone.notes.snapshots(forKey: "1")) { $0.value == Note(text: "Hello") }
        }
        // Then the record was shown after all failures, and one line of the log reports these
        #expect(kit.matchCount(of: fault) == 15)
        #expect(warnings.withLock { $0.filter { $0.contains("requested again") }.count } == 1)
        await kit.close()
    }

    @Test func anAnswerFromBeforeAnInvalidationIsNotStored() async throws {
        // Given a device that keeps the records it reads, and whose first read is answered late
        let kit = try TestKit()
        let phone = try await kit.device("phone", following: .cachedRecords) { $0.readTimeout = .seconds(120) }
        try await kit.notes.setValue(Note(text: "old"), forKey: "1")
        try await kit.waitUntilIdle()
        let late = try kit.fault(.delayReply(.seconds(60)), on: .records, of: phone)
        async let read = phone.notes.value(forKey: "1")
        try await kit.waitForFault(late)
        // When the record changes, and the device knows of it, before the answer has arrived
        try await kit.notes.setValue(Note(text: "new"), forKey: "1")
        try await kit.waitUntilIdle()
        kit.clearFaults()
        // Then the earlier answer is not shown
        #expect(try await read == Note(text: "new"))
        await kit.close()
    }
}
