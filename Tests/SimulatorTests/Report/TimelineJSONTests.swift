import Foundation
import FreshetSimulator
import Testing

@Suite("A timeline as JSON")
struct TimelineJSONTests {
    @Test("names every part and every time of a full timeline")
    func full() throws {
        // Given
        var timeline = Timeline(title: "a title", command: "a command", scenario: "a scenario", end: 90)
        timeline.lanes = [.init(name: "server", detail: "one"), .init(name: "phone", detail: "two")]
        timeline.messages = [.init(from: 1, to: 0, sent: 10, ended: 20, delivery: .underWay, label: "GET changes")]
        timeline.messages.append(
            .init(from: 1, to: 0, sent: 12, ended: 13, delivery: .refused, label: "GET", cursor: "a-7", outcome: "refused", isIdle: true))
        timeline.writes = [
            .init(lane: 1, key: "a/1", label: "put", steps: [.init(time: 3, stage: .pending), .init(time: 4, stage: .rolledBack)])
        ]
        timeline.faults = [.init(lanes: [0, 1], from: 5, to: 6, label: "partition")]
        timeline.marks = [.init(lane: 1, time: 7, label: "live")]
        timeline.holdings = [
            .init(lane: 1, time: 8, key: "a/1", value: "{}", detail: "revision 1"),
            .init(lane: 1, time: 9, key: "a/1", value: nil, detail: "evicted"),
        ]
        timeline.violation = .init(lane: 1, time: 11, rule: "2 never back", text: "went back")
        // When
        let read = try #require(try JSONSerialization.jsonObject(with: Data(timeline.json)) as? NSDictionary)
        // Then
        let expected: NSDictionary = [
            "title": "a title", "command": "a command", "scenario": "a scenario", "end": 90,
            "lanes": [["name": "server", "detail": "one"], ["name": "phone", "detail": "two"]],
            "messages": [
                ["from": 1, "to": 0, "sent": 10, "ended": 20, "delivery": "underWay", "label": "GET changes"] as [String: Any],
                [
                    "from": 1, "to": 0, "sent": 12, "ended": 13, "delivery": "refused", "label": "GET", "cursor": "a-7",
                    "outcome": "refused", "isIdle": true,
                ],
            ],
            "writes": [
                [
                    "lane": 1, "key": "a/1", "label": "put",
                    "steps": [["time": 3, "stage": "pending"] as [String: Any], ["time": 4, "stage": "rolledBack"]],
                ] as [String: Any]
            ],
            "faults": [["lanes": [0, 1], "from": 5, "to": 6, "label": "partition"] as [String: Any]],
            "marks": [["lane": 1, "time": 7, "label": "live"] as [String: Any]],
            "holdings": [
                ["lane": 1, "time": 8, "key": "a/1", "value": "{}", "detail": "revision 1"] as [String: Any],
                ["lane": 1, "time": 9, "key": "a/1", "detail": "evicted"],
            ],
            "violation": ["lane": 1, "time": 11, "rule": "2 never back", "text": "went back"] as [String: Any],
        ]
        #expect(read == expected)
    }

    @Test("of a run without events has empty lists and no violation")
    func empty() throws {
        // When
        let text = String(decoding: Timeline(title: "").json, as: UTF8.self)
        // Then
        #expect(
            text
                == #"{"title":"","command":"","scenario":"","end":0,"lanes":[],"messages":[],"writes":[],"faults":[],"marks":[],"holdings":[]}"#
        )
    }
}
