internal import FreshetClient
internal import FreshetFaultProxy
internal import FreshetServer
internal import FreshetWire

extension TestKit {
    /// Waits until all devices are at rest: none has a write without a verdict, all follow live, and each has all
    /// changes that the server has for it, with values of any size, and no copy that was invalidated. Writes that were set before the call count; a device that is stopped does
    /// not.
    ///
    /// The condition is checked whenever a device's status changes, and at no other time: nothing sleeps.
    ///
    /// - Parameter limit: the longest wait; less than zero counts as zero, more than 30 years as 30 years.
    /// - Throws: ``TestKitError/notIdle(after:waits:faults:)``, which lists the devices that wait and their
    ///   reasons; ``TestKitError/closed``; `CancellationError`.
    public func waitUntilIdle(within limit: Duration = .seconds(30)) async throws {
        let devices = devices
        let sources = devices.map { device -> @Sendable () -> AsyncStream<SyncClient.Status> in { device.client.statuses } }
        let isIdle = try await waitUntil(events: sources, within: limit) { [self] in try await self.waits(of: devices).isEmpty }
        guard !isIdle else { return }
        let waits = try await self.waits(of: devices)
        // The devices may have come to rest at the last moment.
        if !waits.isEmpty { throw TestKitError.notIdle(after: limit, waits: waits, faults: liveFaults) }
    }

    /// Waits until the fault has matched `times` requests.
    ///
    /// - Throws: ``TestKitError/faultNotMatched(after:fault:matches:)``, ``TestKitError/closed``; `CancellationError`.
    public func waitForFault(_ armed: ActiveFault, times: Int = 1, within limit: Duration = .seconds(30)) async throws {
        try checkIsOpen()
        let source: @Sendable () -> AsyncStream<Void> = { [self] in server.faults.faultEvents(in: namespaceID) }
        let hasMatched = try await waitUntil(events: [source], within: limit) { [self] in matchCount(of: armed) >= times }
        guard !hasMatched else { return }
        let matches = matchCount(of: armed)
        // It may have matched at the last moment.
        if matches < times { throw TestKitError.faultNotMatched(after: limit, fault: armed.description, matches: matches) }
    }

    /// The devices that wait, with their reasons. The server's position is read after the devices' statuses, so that
    /// none of them is ahead of it.
    private func waits(of devices: [Device]) async throws -> [TestKitError.Wait] {
        let statuses = devices.map(\.status)
        let head = try await cursor()
        var waits: [TestKitError.Wait] = []
        for (device, status) in zip(devices, statuses) {
            var state = PendingWork.DeviceState(status: status, head: head, hasNews: false)
            if let cursor = status.cursor, cursor != head, cursor.epoch == head.epoch {
                state.hasNews = try await control.hasNews(after: cursor, for: device.filter, in: namespaceID)
            }
            waits += PendingWork.reasons(state).map { TestKitError.Wait(device: device.name, reason: $0) }
        }
        return waits
    }

    /// The faults that still apply, in words.
    private var liveFaults: [String] {
        server.faults.armed(in: namespaceID).filter { !$0.isSpent }.map { "\($0.text), matched \($0.matchCount) times" }
    }
}
