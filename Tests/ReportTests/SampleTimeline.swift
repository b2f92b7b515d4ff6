import FreshetSimulator

/// A run with everything that a report can show: four lanes, every delivery and stage, faults, days of sleep, and a broken rule.
enum SampleTimeline {
    static let server = 0
    static let phone = 1
    static let tablet = 2
    static let laptop = 3
    private static let hour: Int64 = 3_600_000
    private static let morning = 14 * hour
    private static let later = 62 * hour

    /// The moment of the violation.
    static let violationTime = later + 1_240
    /// The moment at which the phone's write `customers/7` is pending and its other one has been rejected.
    static let pendingTime = morning + 900

    static let rich: Timeline = {
        var timeline = Timeline(
            title: "Seed 4711: two phones, a tablet and a bad night",
            command: "freshet simulate bad-night.json --seed 4711 --report run.html",
            scenario: """
                devices phone tablet laptop
                every 200 ms: one of them writes customers/1…9
                partition phone after 14 h for 1 s
                sleep laptop 2 d
                crash server after 62 h
                """,
            end: later + 1_500)
        timeline.lanes = [
            .init(name: "server", detail: "one writer, epoch a"),
            .init(name: "phone", detail: "follows everything"),
            .init(name: "tablet", detail: "follows customers, clears itself once"),
            .init(name: "laptop", detail: "sleeps for two days"),
        ]
        start(&timeline)
        writeInTheMorning(&timeline)
        breakInTheNight(&timeline)
        timeline.messages.sort { $0.sent < $1.sent }
        timeline.holdings.sort { $0.time < $1.time }
        timeline.marks.sort { $0.time < $1.time }
        return timeline
    }()

    private static func start(_ timeline: inout Timeline) {
        timeline.hold(server, 0, "customers/7", #"{"name":"Ada","v":1}"#, "revision 1")
        timeline.hold(server, 0, "customers/8", #"{"name":"Bob","v":1}"#, "revision 2")
        timeline.hold(server, 0, "", "a-2", "head")
        for (device, delay) in [(phone, 0), (tablet, 60), (laptop, 130)] as [(Int, Int64)] {
            timeline.mark(device, delay, "starts")
            timeline.exchange(device, delay + 5, "GET changes since nothing", "200: 2 changes up to a-2", latency: 30)
            timeline.hold(device, delay + 75, "customers/7", #"{"name":"Ada","v":1}"#, "revision 1, live")
            timeline.hold(device, delay + 75, "customers/8", #"{"name":"Bob","v":1}"#, "revision 2, live")
            timeline.hold(device, delay + 75, "", "a-2", "live")
            timeline.mark(device, delay + 80, "live")
        }
    }

    private static func writeInTheMorning(_ timeline: inout Timeline) {
        timeline.faults.append(.init(lanes: [phone], from: morning + 250, to: morning + 1_250, label: "partition phone"))
        timeline.faults.append(.init(lanes: [laptop], from: morning - 6 * hour, to: later + 300, label: "asleep"))
        // The tablet's write goes through and reaches the others.
        timeline.write(
            tablet, "customers/8", #"put {"v":2}"#, (morning, .pending), (morning + 85, .acknowledged), (morning + 160, .confirmed))
        timeline.hold(tablet, morning, "customers/8", #"{"name":"Bob","v":2}"#, "revision 2, pending, live")
        timeline.exchange(tablet, morning + 5, "POST writes 1", "200: applied at a-3", latency: 35)
        timeline.hold(server, morning + 42, "customers/8", #"{"name":"Bob","v":2}"#, "revision 3")
        timeline.hold(server, morning + 42, "", "a-3", "head")
        timeline.exchange(tablet, morning + 90, "GET changes since a-2", "200: 1 change up to a-3", latency: 30)
        timeline.hold(tablet, morning + 160, "customers/8", #"{"name":"Bob","v":2}"#, "revision 3, live")
        timeline.hold(tablet, morning + 160, "", "a-3", "live")
        timeline.exchange(phone, morning + 100, "GET changes since a-2", "200: 1 change up to a-3", latency: 40)
        timeline.hold(phone, morning + 190, "customers/8", #"{"name":"Bob","v":2}"#, "revision 3, live")
        timeline.hold(phone, morning + 190, "", "a-3", "live")
        // The phone writes while it is cut off: one is applied when it returns, one is refused.
        timeline.write(
            phone, "customers/7", #"put {"v":5}"#, (morning + 300, .pending), (morning + 1_370, .acknowledged),
            (morning + 1_450, .confirmed))
        timeline.hold(phone, morning + 300, "customers/7", #"{"name":"Ada","v":5}"#, "revision 1, pending, offline")
        timeline.send(phone, server, morning + 310, morning + 345, .lost, "POST writes 1")
        timeline.send(phone, server, morning + 610, morning + 650, .lost, "POST writes 1 (again)")
        timeline.write(
            phone, "customers/8", #"put {"v":9} if a-1"#, (morning + 420, .pending), (morning + 700, .rejected),
            (morning + 980, .rolledBack))
        timeline.hold(phone, morning + 420, "customers/8", #"{"name":"Bob","v":9}"#, "revision 3, pending, offline")
        timeline.hold(phone, morning + 700, "customers/8", #"{"name":"Bob","v":9}"#, "revision 3, rejected: precondition failed")
        timeline.hold(phone, morning + 980, "customers/8", #"{"name":"Bob","v":2}"#, "revision 3, live")
        timeline.stop(phone, morning + 480, morning + 480, .refused, "GET changes since @3", "the device is not connected")
        timeline.stop(laptop, morning + 500, morning + 520, .intercepted, "GET client status", "a proxy answers 407")
        timeline.poll(tablet, morning + 700, "GET changes since @3, wait 25 s", "204: nothing up to @3")
        timeline.mark(phone, morning + 450, "offline")
        timeline.mark(tablet, morning + 640, "reads customers/7")
        timeline.send(server, phone, morning + 500, morning + 760, .ignored, "200: nothing new up to a-3")
        timeline.exchange(phone, morning + 1_280, "POST writes 1 (again)", "200: applied at a-4", latency: 40)
        timeline.hold(server, morning + 1_330, "customers/7", #"{"name":"Ada","v":5}"#, "revision 4")
        timeline.hold(server, morning + 1_330, "", "a-4", "head")
        timeline.exchange(phone, morning + 1_375, "GET changes since a-3", "200: 1 change up to a-4", latency: 32)
        timeline.hold(phone, morning + 1_450, "customers/7", #"{"name":"Ada","v":5}"#, "revision 4, live")
        timeline.hold(phone, morning + 1_450, "", "a-4", "live")
    }

    private static func breakInTheNight(_ timeline: inout Timeline) {
        timeline.write(tablet, "customers/9", #"put {"v":1}"#, (later, .pending), (later + 380, .cleared))
        timeline.hold(tablet, later, "customers/9", #"{"v":1}"#, "no revision, pending, live")
        timeline.send(tablet, server, later + 10, later + 60, .lost, "POST writes 2")
        timeline.faults.append(.init(lanes: [server], from: later + 50, to: later + 260, label: "crash server"))
        timeline.mark(server, later + 260, "recovers at a-4")
        timeline.mark(tablet, later + 380, "clear()")
        for key in ["customers/7", "customers/8", "customers/9", ""] { timeline.hold(tablet, later + 380, key, nil, "cleared") }
        timeline.exchange(laptop, later + 320, "GET changes since a-2", "200: 2 changes up to a-4", latency: 55)
        timeline.hold(laptop, later + 440, "customers/7", #"{"name":"Ada","v":5}"#, "revision 4, live")
        timeline.hold(laptop, later + 440, "customers/8", #"{"name":"Bob","v":2}"#, "revision 3, live")
        timeline.hold(laptop, later + 440, "", "a-4", "live")
        timeline.write(
            laptop, "customers/7", #"patch {"v":6}"#, (later + 500, .pending), (later + 640, .acknowledged), (later + 760, .confirmed))
        timeline.hold(laptop, later + 500, "customers/7", #"{"name":"Ada","v":6}"#, "revision 4, pending, live")
        timeline.exchange(laptop, later + 510, "POST writes 1", "200: applied at a-5", latency: 60)
        timeline.hold(server, later + 575, "customers/7", #"{"name":"Ada","v":6}"#, "revision 5")
        timeline.hold(server, later + 575, "", "a-5", "head")
        timeline.exchange(laptop, later + 650, "GET changes since a-4", "200: 1 change up to a-5", latency: 50)
        timeline.hold(laptop, later + 760, "customers/7", #"{"name":"Ada","v":6}"#, "revision 5, live")
        timeline.hold(laptop, later + 760, "", "a-5", "live")
        // The fetch that crosses a change: the older answer comes after the newer and is stored.
        timeline.send(phone, server, later + 460, later + 520, .arrived, "GET customers/7")
        timeline.send(server, phone, later + 530, violationTime - 10, .arrived, "200: customers/7 at a-4 (delayed)")
        timeline.exchange(phone, later + 600, "GET changes since a-4", "200: 1 change up to a-5", latency: 45)
        timeline.hold(phone, later + 700, "customers/7", #"{"name":"Ada","v":6}"#, "revision 5, live")
        timeline.hold(phone, later + 700, "", "a-5", "live")
        timeline.hold(phone, violationTime, "customers/7", #"{"name":"Ada","v":5}"#, "revision 4, live")
        timeline.faults.append(.init(lanes: [phone, server], from: later + 560, to: later + 560, label: "delay 700 ms"))
        timeline.mark(phone, violationTime - 10, "reads customers/7")
        timeline.send(phone, server, later + 1_420, later + 1_500, .underWay, "GET changes since a-5")
        timeline.violation = .init(
            lane: phone, time: violationTime, rule: "2 never back",
            text: "customers/7 was shown at revision 5 from 2 d 14:00:00.700 on, and now at revision 4. "
                + "An earlier response arrived after the change at revision 5 and was stored: it should have been dropped.")
    }
}

extension Timeline {
    fileprivate mutating func hold(_ lane: Int, _ time: Int64, _ key: String, _ value: String?, _ detail: String) {
        holdings.append(.init(lane: lane, time: time, key: key, value: value, detail: detail))
    }

    fileprivate mutating func mark(_ lane: Int, _ time: Int64, _ label: String) {
        marks.append(.init(lane: lane, time: time, label: label))
    }

    fileprivate mutating func send(_ from: Int, _ to: Int, _ sent: Int64, _ ended: Int64, _ delivery: Message.Delivery, _ label: String) {
        messages.append(.init(from: from, to: to, sent: sent, ended: ended, delivery: delivery, label: label))
    }

    fileprivate mutating func stop(
        _ lane: Int, _ sent: Int64, _ ended: Int64, _ delivery: Message.Delivery, _ label: String, _ outcome: String
    ) {
        messages.append(.init(from: lane, to: 0, sent: sent, ended: ended, delivery: delivery, label: label, outcome: outcome))
    }

    /// A poll that brings nothing.
    fileprivate mutating func poll(_ device: Int, _ time: Int64, _ request: String, _ reply: String) {
        messages.append(
            .init(from: device, to: 0, sent: time, ended: time + 20, delivery: .arrived, label: request, cursor: "a-3", isIdle: true))
        messages.append(
            .init(from: 0, to: device, sent: time + 160, ended: time + 180, delivery: .arrived, label: reply, cursor: "a-3", isIdle: true))
    }

    /// A request of a device and the server's answer, each under way for as long.
    fileprivate mutating func exchange(_ device: Int, _ time: Int64, _ request: String, _ reply: String, latency: Int64) {
        send(device, 0, time, time + latency, .arrived, request)
        send(0, device, time + latency + 5, time + 2 * latency + 5, .arrived, reply)
    }

    fileprivate mutating func write(_ lane: Int, _ key: String, _ label: String, _ steps: (time: Int64, stage: Write.Stage)...) {
        writes.append(.init(lane: lane, key: key, label: label, steps: steps.map { .init(time: $0.time, stage: $0.stage) }))
    }
}
