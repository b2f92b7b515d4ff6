import FreshetSimulator
import FreshetTestSupport

/// A run of 20,000 messages among eight devices over half an hour, with writes, marks and cursors to match.
enum CrowdedTimeline {
    static let messages = 20_000

    static let timeline: Timeline = {
        var random = SeededGenerator(seed: 9)
        var timeline = Timeline(title: "A crowd", command: "freshet simulate crowd.json --seed 9", end: 1_800_000)
        timeline.lanes = [.init(name: "server", detail: "")] + (1...8).map { .init(name: "device \($0)", detail: "one of eight") }
        var time: Int64 = 0
        for number in 0..<(messages / 2) {
            time += Int64.random(in: 0...350, using: &random)
            let device = Int.random(in: 1...8, using: &random)
            let latency = Int64.random(in: 10...80, using: &random)
            let answered = time + latency + 2
            let isLost = number % 40 == 0
            timeline.messages.append(
                .init(
                    from: device, to: 0, sent: time, ended: time + latency, delivery: isLost ? .lost : .arrived,
                    label: "POST writes \(number)")
            )
            timeline.messages.append(
                .init(
                    from: 0, to: device, sent: answered, ended: answered + latency, delivery: .arrived, label: "200: applied at a-\(number)"
                ))
            timeline.holdings.append(.init(lane: device, time: answered + latency, key: "", value: "a-\(number)", detail: ""))
            timeline.holdings.append(.init(lane: 0, time: time + latency, key: "items/\(number % 500)", value: "\(number)", detail: ""))
            guard number % 4 == 0 else { continue }
            let steps: [Timeline.Write.Step] = [
                .init(time: time, stage: .pending), .init(time: answered, stage: .acknowledged),
                .init(time: answered + 2 * latency, stage: .confirmed),
            ]
            timeline.writes.append(.init(lane: device, key: "items/\(number % 500)", label: "put", steps: steps))
            timeline.marks.append(.init(lane: device, time: time, label: "reads items/\(number % 500)"))
            timeline.faults.append(.init(lanes: [device], from: time, to: time + 20, label: "slow"))
        }
        timeline.violation = .init(lane: 3, time: 900_000, rule: "1 converge", text: "items/7 differs")
        timeline.end = max(timeline.end, time + 1_000)
        return timeline
    }()
}
