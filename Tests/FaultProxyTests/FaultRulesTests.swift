import FreshetFaultProxy
import FreshetWire
import Testing

@Suite("Fault rules") struct FaultRulesTests {
    private let phone = DeviceToken(device: "phone", generation: 1)

    @Test func theFirstMatchingFaultAppliesAsOftenAsItWasArmedFor() {
        // Given
        var rules = FaultRules()
        rules.arm(Fault(.dropReply, on: .writes, times: 2))
        rules.arm(Fault(.dropRequest, on: .any))
        // When
        let effects = [FaultTarget.reads, .writes, .writes, .writes].map { rules.match($0, nil) }
        // Then
        #expect(effects == [.dropRequest, .dropReply, .dropReply, nil])
        #expect(rules.armed.map(\.matchCount) == [2, 1])
        #expect(rules.armed.allSatisfy { $0.isSpent })
    }

    @Test func aDevicesFaultStrikesNoOther() {
        var rules = FaultRules()
        rules.arm(Fault(.freeze, device: "phone", times: nil))
        #expect(rules.match(.writes, nil) == nil)
        #expect(rules.match(.writes, DeviceToken(device: "laptop", generation: 1)) == nil)
        #expect((1...3).map { _ in rules.match(.writes, phone) } == [.freeze, .freeze, .freeze])
        #expect(rules.clear() == 1)
        #expect(rules.match(.writes, phone) == nil && rules.armed.isEmpty)
    }

    @Test func aTokenIsExpiredUntilThereIsAFreshOne() {
        // Given a device that has shown its second token, and another fault
        var rules = FaultRules()
        #expect(rules.match(.changes, DeviceToken(device: "phone", generation: 2)) == nil)
        rules.arm(Fault(.dropReply, times: nil))
        // When its tokens expire
        let armed = rules.arm(Fault(.expireToken(generation: nil), device: "phone", times: nil))
        // Then both that it had are refused, before anything else happens to them, and the next is not
        #expect(armed.fault.effect == .expireToken(generation: 2))
        #expect(rules.match(.writes, phone) == armed.fault.effect)
        #expect(rules.match(.writes, DeviceToken(device: "phone", generation: 2)) == armed.fault.effect)
        #expect(rules.match(.writes, DeviceToken(device: "phone", generation: 3)) == .dropReply)
        #expect(rules.match(.writes, DeviceToken(device: "laptop", generation: 1)) == .dropReply)
    }

    @Test(
        arguments: [
            ("phone.1", "phone", 1 as Int64?), ("my.phone.12", "my.phone", 12), ("phone", nil, nil), (".1", nil, nil),
            ("phone.-1", nil, nil),
            ("phone.", nil, nil), ("", nil, nil),
        ] as [(String, String?, Int64?)])
    func tokensAreADeviceAndAGeneration(text: String, device: String?, generation: Int64?) {
        let token = DeviceToken(text)
        #expect(token?.device == device && token?.generation == generation)
        if let token { #expect(token.text == text) }
    }

    @Test(arguments: [
        (#"{"effect":"drop-reply"}"#, Fault(.dropReply)),
        (
            #"{"effect":"drop-request","on":"writes","device":"phone","times":3}"#,
            Fault(.dropRequest, on: .writes, device: "phone", times: 3)
        ),
        (#"{"effect":"cut-reply","on":"changes","untilLifted":true}"#, Fault(.cutReply, on: .changes, times: nil)),
        (#"{"effect":"duplicate","untilLifted":false}"#, Fault(.duplicate)),
        (#"{"effect":"delay-request","milliseconds":5}"#, Fault(.delayRequest(milliseconds: 5))),
        (#"{"effect":"delay-reply","milliseconds":0}"#, Fault(.delayReply(milliseconds: 0))),
        (#"{"effect":"answer","status":503}"#, Fault(.answer(status: 503, retryAfter: 0))),
        (#"{"effect":"answer","status":429,"retryAfter":2}"#, Fault(.answer(status: 429, retryAfter: 2))),
        (#"{"effect":"freeze","on":"reads"}"#, Fault(.freeze, on: .reads)),
        (
            #"{"effect":"expire-token","device":"phone","generation":4}"#,
            Fault(.expireToken(generation: 4), device: "phone", times: nil)
        ),
    ])
    func aFaultIsReadAsItIsMeant(json: String, fault: Fault) throws {
        #expect(try Fault(json: Array(json.utf8)) == fault)
    }

    @Test(arguments: [
        ("", "invalid JSON"), ("[]", "an object"), ("{}", "'effect' is missing: it takes drop-request, "),
        (#"{"effect":"drop"}"#, "it takes drop-request, drop-reply, "),
        (#"{"effect":"freeze","on":"write"}"#, "it takes any, changes, writes, "),
        (#"{"effect":"freeze","for":1}"#, "'for' is no member of a fault: it takes effect, on, "),
        (#"{"effect":"freeze","times":0}"#, "'times' is 0: it takes a whole number from 1"),
        (#"{"effect":"freeze","times":2,"untilLifted":true}"#, "leave one of them out"),
        (#"{"effect":"freeze","status":503}"#, "'status' does not go with freeze"),
        (#"{"effect":"answer"}"#, "'status' is missing: answer takes a status from 400 to 599"),
        (#"{"effect":"answer","status":200}"#, "'status' is 200: it takes a whole number from 400 to 599"),
        (#"{"effect":"delay-reply"}"#, "'milliseconds' is missing: a delay takes 0 to 60000"),
        (#"{"effect":"delay-request","milliseconds":60001}"#, "from 0 to 60000"),
        (#"{"effect":"expire-token"}"#, "'device' is missing"),
        (#"{"effect":"expire-token","device":"phone","times":1}"#, "'times' goes with neither"),
    ])
    func aFaultThatCannotBeMeantIsRefused(json: String, saying text: String) {
        #expect { try Fault(json: Array(json.utf8)) } throws: { error in
            (error as? Problem)?.code == .invalidRequest && "\(error)".contains(text)
        }
    }
}
