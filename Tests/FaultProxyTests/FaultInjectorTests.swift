import FreshetFaultProxy
import FreshetWire
import Testing

@Suite("Fault injector") struct FaultInjectorTests {
    @Test("a request that a fault matches is not held if the faults are cleared first")
    func clearedBetweenMatchAndHold() async throws {
        // Given a fault that has matched a request, and was cleared as soon as that was known
        let (injector, namespace) = (FaultInjector(), try Namespace("shop"))
        _ = injector.arm(Fault(.freeze), in: namespace)
        let match = try #require(injector.match(.writes, nil, in: namespace))
        injector.clear(namespace)
        // When the request is to be held; Then it goes on
        await withCheckedContinuation { continuation in _ = injector.hold(match, nil) { continuation.resume() } }
        #expect(injector.heldCount == 0)
    }

    @Test("a request is held until its own namespace's faults are cleared")
    func clearedElsewhere() async throws {
        // Given a fault that has matched, and faults of another namespace that were cleared
        let (injector, namespace) = (FaultInjector(), try Namespace("shop"))
        _ = injector.arm(Fault(.freeze), in: namespace)
        let match = try #require(injector.match(.writes, nil, in: namespace))
        injector.clear(try Namespace("other"))
        await withCheckedContinuation { continuation in
            // When
            _ = injector.hold(match, nil) { continuation.resume() }
            // Then
            #expect(injector.heldCount == 1)
            injector.clear(namespace)
        }
        #expect(injector.heldCount == 0)
    }
}
