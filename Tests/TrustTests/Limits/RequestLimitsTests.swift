import FreshetPlatform
import Testing

@testable import FreshetTrust

struct RequestLimitsTests {
    private let principal = Principal(issuer: "id", subject: "u7")
    private let other = Principal(issuer: "id", subject: "u8")

    private static func quotas(_ change: (inout Quotas) -> Void) -> Quotas {
        var quotas = Quotas()
        change(&quotas)
        return quotas
    }

    @Test func aFloodOfOnePrincipalDoesNotLimitAnother() {
        // Given
        var limits = RequestLimits<Int>(Self.quotas { $0.principal.requests = Rate(2, per: 1_000) })
        // When
        let results = (0..<3).map { _ in limits.begin(of: principal, writes: 0, bytes: 0, at: 0)?.name }
        let others = limits.begin(of: other, writes: 0, bytes: 0, at: 0)
        // Then
        #expect(results == [nil, nil, "requests"] && others == nil)
    }

    @Test func aRefusedRequestIsCountedByNoLimit() throws {
        // Given
        var limits = RequestLimits<Int>(
            Self.quotas {
                $0.principal.requests = Rate(3, per: 3_600_000)
                $0.principal.writes = Rate(10, per: 1_000)
                $0.principal.bytes = Rate(100, per: 1_000)
            })
        // When
        var names: [String?] = []
        for (writes, bytes) in [(6, 50), (6, 10), (4, 60), (4, 50), (0, 0), (0, 0)] {
            names.append(limits.begin(of: principal, writes: writes, bytes: bytes, at: 0)?.name)
        }
        // Then the two that were refused have used nothing
        #expect(names == [nil, "writes", "bytes", nil, nil, "requests"])
    }

    @Test func failuresOfAnAddressAreLimited() throws {
        // Given
        var limits = RequestLimits<Int>(Quotas())
        let address = 7
        // When
        for _ in 0..<10 {
            let excess = limits.beginVerification(from: address, at: 0)
            #expect(excess == nil)
            limits.noteFailure(from: address, at: 0)
        }
        let excess = limits.beginVerification(from: address, at: 0)
        let refused = try #require(excess)
        let later = limits.beginVerification(from: address, at: 6_000)
        // Then
        #expect(refused.name == "failures" && refused.decision.retryAfter == 6 && later == nil)
        #expect(refused.fields == (#""failures";r=0;t=6"#, #""failures";q=10;w=60"#))
    }

    @Test func manyDevicesMayConnectFromOneAddress() {
        var limits = RequestLimits<Int>(Quotas())
        let refused = (0..<10_000).contains { _ in limits.beginVerification(from: 7, at: 0) != nil }
        #expect(!refused)
    }

    @Test func requestsWithoutCredentialAreLimited() {
        var limits = RequestLimits<Int>(Quotas())
        let address = 7
        let passed = (0..<100).count { _ in limits.beginAnonymous(from: address, at: 0) == nil }
        #expect(passed == 20)
    }

    @Test func withoutQuotasNothingIsLimited() {
        var limits = RequestLimits<Int>(Quotas())
        let refused = (0..<10_000).contains { _ in limits.begin(of: principal, writes: 1_000, bytes: 1_000_000, at: 0) != nil }
        #expect(!refused)
    }

    @Test func thingsThatExistAtOnceAreCounted() {
        // Given
        var waits = CountLimiter<Principal>(2)
        // When
        let acquired = [principal, principal, principal, other].map { waits.acquire($0) }
        waits.release(principal)
        let again = [waits.acquire(principal), waits.acquire(principal)]
        // Then
        #expect(acquired == [true, true, false, true] && again == [true, false])
        for _ in 0..<5 { waits.release(principal) }
        waits.release(other)
        #expect(waits.count == 0)
        var unlimited = CountLimiter<Principal>(nil)
        let all = (0..<1_000).allSatisfy { _ in unlimited.acquire(principal) }
        #expect(all && unlimited.count == 0)
    }

    @Test func aNamespaceBeyondItsQuotaCanOnlyShrink() {
        // Given
        var quota = Quotas.Space()
        #expect(quota.excess(NamespaceUsage(storage: .max), adding: NamespaceUsage(storage: .max)) == nil)
        quota.storage = 100
        quota.clients = 2
        // Then
        #expect(quota.excess(NamespaceUsage(storage: 90, clients: 2), adding: NamespaceUsage(storage: 10)) == nil)
        #expect(quota.excess(NamespaceUsage(storage: 90), adding: NamespaceUsage(storage: 11))?.quota == "storage")
        #expect(quota.excess(NamespaceUsage(storage: .max), adding: NamespaceUsage(storage: 1))?.quota == "storage")
        #expect(quota.excess(NamespaceUsage(clients: 2), adding: NamespaceUsage(clients: 1))?.limit == 2)
        #expect(quota.excess(NamespaceUsage(clients: 2), adding: NamespaceUsage(clients: 1))?.description.contains("client name") == true)
        #expect(quota.excess(NamespaceUsage(storage: 500), adding: NamespaceUsage(storage: -10)) == nil)
        #expect(quota.isLimited && !Quotas.Space().isLimited)
        let (more, fewer) = (NamespaceUsage(storage: 5, records: 3, clients: 1), NamespaceUsage(storage: 2, records: 4, clients: 1))
        #expect(more - fewer == NamespaceUsage(storage: 3, records: -1))
        #expect(quota.excess(NamespaceUsage(storage: 500), adding: NamespaceUsage(records: 1)) == nil)
    }
}
