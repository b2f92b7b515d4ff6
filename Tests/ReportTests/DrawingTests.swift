import FreshetSimulator
import Testing

/// The page's drawing, in a real browser.
@Suite("A report's drawing", .serialized, .browserThreads, .timeLimit(.minutes(15)))
struct DrawingTests {
    private struct Drawn: Decodable {
        struct Arrow: Decodable {
            let index: Int
            let delivery: String
            let from: Double
            let to: Double
        }
        struct Shape: Decodable, Hashable {
            let lane: Int
            let kind: String
        }
        let title: String
        let lanes: [String]
        let lines: [Double]
        let arrows: [Arrow]
        let faults: [Shape]
        let faultLabels: [String]
        let writes: [Shape]
        let marks: Int
        let breaks: Int
        let violations: Int
        let violationLine: Double
        let verdict: String
        let command: String
        let scenario: String
        let legend: [String]
        let unnamed: Int
    }

    private static let look = #"""
        await click("all");
        const number = (element, name) => Number(element.getAttribute(name));
        const kind = (element, family) => element.getAttribute("class").replace(family, "").trim();
        return {
          title: document.title, lanes: all(".lane .lane-name").map(element => element.textContent),
          lines: all(".lifeline").map(element => number(element, "y1")),
          arrows: all("#layer-messages path").map(element => {
            const [, from, to] = element.getAttribute("d").match(/^M[-\d.]+ ([-\d.]+)L[-\d.]+ ([-\d.]+)$/);
            return { index: number(element, "data-index"), delivery: kind(element, "message").split(" ")[0], from: Number(from), to: Number(to) };
          }),
          faults: all("#layer-faults rect").map(element => ({ lane: number(element, "data-lane"), kind: kind(element, "fault") })),
          faultLabels: all("#layer-labels .fault-label").map(element => element.textContent),
          writes: all("#layer-writes rect").map(element => ({ lane: number(element, "data-lane"), kind: kind(element, "write") })),
          marks: all("#layer-marks .mark").length, breaks: all("#layer-breaks .break").length,
          violations: all("#violation").length, violationLine: number(byId("violation") ?? byId("chart"), "cy"),
          verdict: byId("verdict").textContent, command: byId("command").textContent, scenario: byId("scenario").textContent,
          legend: all("#legend li").map(element => element.textContent),
          // Every control has a name that a screen reader can read.
          unnamed: all("button, input, select, [tabindex]").filter(element => !(element.textContent.trim() || element.labels?.length
            || element.getAttribute("aria-label") || element.getAttribute("aria-labelledby"))).length,
        };
        """#

    @Test("shows every lane, message, fault, write, mark and the violation of the timeline")
    func everything() async throws {
        // Given
        let timeline = SampleTimeline.rich
        // When
        let drawn: Drawn = try await Browser().findings(in: timeline.page(), Self.look)
        // Then
        #expect(drawn.title == timeline.title + " – Freshet")
        #expect(drawn.lanes == timeline.lanes.map(\.name))
        #expect(drawn.arrows.map(\.index).sorted() == timeline.messages.indices.filter { !timeline.messages[$0].isIdle })
        for arrow in drawn.arrows {
            let message = timeline.messages[arrow.index]
            #expect(arrow.delivery == message.delivery.rawValue)
            #expect(arrow.from == drawn.lines[message.from])
            // One that never came stops short of the lane that it was sent to, a refused one beside its sender's line.
            let hasArrived = message.delivery == .arrived || message.delivery == .ignored
            #expect((arrow.to == drawn.lines[message.to]) == hasArrived)
            if message.delivery == .refused { #expect(abs(arrow.to - arrow.from) < 25) }
        }
        let stages = timeline.writes.flatMap { write in write.steps.map { "\(write.lane) \($0.stage.rawValue)" } }
        #expect(drawn.writes.map { "\($0.lane) \($0.kind)" }.sorted() == stages.sorted())
        #expect(drawn.faults.map(\.lane).sorted() == timeline.faults.flatMap(\.lanes).sorted())
        #expect(drawn.faults.filter { $0.kind == "instant" }.count == 2)
        #expect(Set(drawn.faultLabels).isSuperset(of: ["partition phone", "asleep", "⚡ delay 700 ms"]))
        #expect(drawn.marks == timeline.marks.count)
        #expect(drawn.breaks > 0)
        #expect(drawn.violations == 1)
        #expect(drawn.violationLine == drawn.lines[SampleTimeline.phone])
        #expect(drawn.verdict.contains("2 never back"))
        #expect(drawn.verdict.contains("phone"))
        #expect(drawn.verdict.contains(timeline.violation?.text ?? "no violation"))
        #expect(drawn.command == timeline.command)
        #expect(drawn.scenario == timeline.scenario)
        #expect(drawn.legend.count == 18)
        #expect(drawn.unnamed == 0)
    }

    @Test("of a run that broke no rule says so, and has no violation")
    func quiet() async throws {
        // Given
        var timeline = SampleTimeline.rich
        timeline.violation = nil
        // When
        let drawn: Drawn = try await Browser().findings(in: timeline.page(), Self.look)
        // Then
        #expect(drawn.violations == 0)
        #expect(drawn.verdict == "✓ No rule was broken")
        #expect(drawn.arrows.count == timeline.messages.count { !$0.isIdle })
    }

    @Test("of nothing, of one lane, and of one moment opens without an error")
    func little() async throws {
        // Given
        var moment = Timeline(title: "moment", lanes: [.init(name: "server", detail: "alone")])
        moment.marks = [.init(lane: 0, time: 0, label: "starts")]
        moment.violation = .init(lane: 0, time: 0, rule: "0", text: "at once")
        var week = Timeline(title: "week", end: 7 * 86_400_000, lanes: [.init(name: "server", detail: "")])
        week.messages = [.init(from: 0, to: 5, sent: 1, ended: 2, delivery: .arrived, label: "to nobody")]
        let timelines = [(Timeline(title: "nothing"), 0, 0), (moment, 1, 1), (week, 1, 0)]
        for (timeline, lanes, marks) in timelines {
            // When
            let script = Self.look.replacing("await click(\"all\");", with: "await press(\"f\"); await press(\"+\"); await click(\"all\");")
            let drawn: Drawn = try await Browser().findings(in: timeline.page(), script)
            // Then
            #expect(drawn.lanes.count == lanes)
            #expect(drawn.marks == marks)
            #expect(drawn.arrows.isEmpty)
        }
    }

    @Test("shows hostile labels as they are, and runs none of them")
    func hostile() async throws {
        // Given
        struct Shown: Decodable {
            let intruder: Bool
            let title, rule, command, scenario: String
            let lanes, events, cells, values: [String]
            let images: Int
        }
        let labels = PageTextTests.hostile
        let all = labels.joined(separator: " ")
        var timeline = Timeline(title: all, command: all, scenario: all, end: 10)
        timeline.lanes = labels.map { .init(name: $0, detail: $0) }
        timeline.marks = labels.indices.map { .init(lane: $0, time: 1, label: labels[$0]) }
        timeline.holdings = labels.indices.map { .init(lane: $0, time: 1, key: labels[$0], value: labels[$0], detail: labels[$0]) }
        timeline.writes = [.init(lane: 0, key: all, label: all, steps: [.init(time: 1, stage: .pending)])]
        timeline.faults = [.init(lanes: [0], from: 1, to: 2, label: all)]
        timeline.violation = .init(lane: 0, time: 2, rule: all, text: all)
        // When
        let shown: Shown = try await Browser().findings(
            in: timeline.page(),
            #"""
            byId("events-lane").value = "-1";
            byId("events-lane").dispatchEvent(new Event("change"));
            await press("f");
            const texts = selector => all(selector).map(element => element.textContent);
            return { intruder: "intruder" in window, images: all("img, b").length, title: byId("title").textContent,
              rule: document.querySelector("#verdict p").textContent, command: byId("command").textContent,
              scenario: byId("scenario").textContent, lanes: texts("#events-lane option").slice(1), events: texts("#events .mark .what"),
              cells: all("#state tbody tr").map(row => row.dataset.key), values: texts("#state .value") };
            """#)
        // Then
        #expect(!shown.intruder)
        #expect(shown.images == 0)
        #expect(shown.title == all && shown.rule == all && shown.command == all && shown.scenario == all)
        #expect(shown.lanes == labels)
        #expect(shown.events == labels)
        #expect(shown.cells.sorted() == labels.sorted())
        #expect(shown.values.sorted() == labels.sorted())
    }

    @Test("of 20,000 messages never has more than a bounded number of elements, and loses no lost one")
    func crowd() async throws {
        // Given
        struct Counts: Decodable {
            let most: Int
            let lost: Int
            let milliseconds: Double
            let windows: Int
        }
        // When: the whole run, then closer and closer, then the violation.
        let counts: Counts = try await Browser().findings(
            in: CrowdedTimeline.timeline.page(),
            #"""
            const begin = performance.now();
            let most = 0;
            let windows = 0;
            const count = () => {
              most = Math.max(most, all("#chart *, #overview *").length);
              windows += 1;
            };
            await click("all");
            count();
            const lost = all("#layer-messages .lost").length;
            for (let step = 0; step < 16; step += 1) {
              await press("+");
              count();
            }
            await press("f");
            count();
            return { most, lost, windows, milliseconds: performance.now() - begin };
            """#)
        // Then
        #expect(counts.windows == 18)
        #expect(counts.most < 4_000)
        #expect(counts.lost > 50)
    }
}
