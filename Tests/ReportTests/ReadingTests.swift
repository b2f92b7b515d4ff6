import FreshetSimulator
import Testing

/// The actions of a reader, in a real browser.
@Suite("A report's reader", .serialized, .browserThreads, .timeLimit(.minutes(15)))
struct ReadingTests {
    private struct Cell: Decodable, Hashable {
        let lane: Int
        let key: String
        let text: String
        let stage: String
        let differs: Bool
    }

    /// The expected table at a moment, derived from the timeline alone.
    private static func cells(of timeline: Timeline, at time: Int64) -> Set<Cell> {
        let keys = Set(timeline.holdings.map(\.key))
        func held(_ lane: Int, _ key: String) -> Timeline.Holding? {
            timeline.holdings.last { $0.lane == lane && $0.key == key && $0.time <= time }
        }
        var cells: Set<Cell> = []
        for key in keys where key.isEmpty || timeline.lanes.indices.contains(where: { held($0, key) != nil }) {
            for lane in timeline.lanes.indices {
                guard let holding = held(lane, key) else {
                    cells.insert(Cell(lane: lane, key: key, text: "–", stage: "", differs: false))
                    continue
                }
                let stage = ["pending", "rejected"].first(where: holding.detail.contains) ?? ""
                let differs = lane > 0 && !key.isEmpty && holding.value != nil && holding.value != held(0, key)?.value
                // The page shows a cursor without its epoch.
                let text = key.isEmpty ? holding.value.map { "@" + $0.drop { $0 != "-" }.dropFirst() } : holding.value
                cells.insert(Cell(lane: lane, key: key, text: text ?? "not held", stage: stage, differs: differs))
            }
        }
        return cells
    }

    @Test("finds at every moment of the slider the values that were held then by the timeline")
    func slider() async throws {
        // Given
        struct EventContext: Decodable {
            let now: String
            let cells: [Cell]
        }
        let timeline = SampleTimeline.rich
        // When
        let moments: [EventContext] = try await Browser().findings(
            in: timeline.page(),
            #"""
            const moments = [];
            for (let index = 0; index <= Number(byId("moment").max); index += 1) {
              await slide(index);
              moments.push({ now: byId("now").textContent, cells: all("#state td[data-lane]").map(element => ({
                lane: Number(element.dataset.lane), key: element.dataset.key, differs: element.classList.contains("differs"),
                text: (element.querySelector(".value") ?? element).textContent,
                stage: element.classList.contains("pending") ? "pending" : element.classList.contains("rejected") ? "rejected" : "" })) });
            }
            return moments;
            """#)
        // Then
        let times = Self.times(of: timeline)
        #expect(moments.count == times.count)
        for (moment, time) in zip(moments, times) {
            #expect(moment.now.hasPrefix(Self.text(time)))
            #expect(Set(moment.cells) == Self.cells(of: timeline, at: time), "at \(Self.text(time))")
        }
        let all = moments.flatMap(\.cells)
        #expect(all.contains { $0.stage == "pending" && $0.differs } && all.contains { $0.stage == "rejected" })
    }

    private static func times(of timeline: Timeline) -> [Int64] {
        var times: Set<Int64> = [0, timeline.end]
        times.formUnion(timeline.messages.filter { !$0.isIdle }.flatMap { [$0.sent, $0.ended] })
        times.formUnion(timeline.writes.flatMap { $0.steps.map(\.time) })
        times.formUnion(timeline.faults.flatMap { [$0.from, $0.to] })
        times.formUnion(timeline.marks.map(\.time))
        times.formUnion(timeline.holdings.map(\.time))
        if let violation = timeline.violation { times.insert(violation.time) }
        return times.sorted()
    }

    /// Days, hours, minutes, seconds and milliseconds, as the page writes a time of a run of days.
    private static func text(_ time: Int64) -> String {
        func digits(_ number: Int64, _ count: Int) -> String {
            String(repeating: "0", count: count - String(number).count) + String(number)
        }
        let clock = [time / 3_600_000 % 24, time / 60_000 % 60, time / 1_000 % 60].map { digits($0, 2) }.joined(separator: ":")
        return "\(time / 86_400_000) d \(clock).\(digits(time % 1_000, 3))"
    }

    @Test("moves with the keyboard, and f leads back to the violation from anywhere")
    func keyboard() async throws {
        // Given
        struct Path: Decodable {
            let opened, home, right, right10, left, end, jumped: String
            let ringAtHome, ringAfterJump, eventAfterJump, cellAfterJump: Bool
            let frames: [Double]
        }
        let timeline = SampleTimeline.rich
        let times = Self.times(of: timeline)
        // When
        let path: Path = try await Browser().findings(
            in: timeline.page(),
            #"""
            const now = () => byId("now").textContent;
            const key = (key, shiftKey) => {
              document.body.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
              return settle();
            };
            const frames = [];
            const frame = () => frames.push(Number(byId("frame").getAttribute("width")));
            const opened = now();
            await key("0");
            frame();
            for (let step = 0; step < 3; step += 1) await key("+");
            frame();
            await key("-");
            frame();
            await key("Home");
            const home = now();
            const ringAtHome = byId("violation") !== null;
            await key("ArrowRight");
            const right = now();
            await key("ArrowRight", true);
            const right10 = now();
            await key("ArrowLeft");
            const left = now();
            await key("End");
            const end = now();
            await key("Home");
            await key("f");
            return { opened, home, right, right10, left, end, jumped: now(), ringAtHome, ringAfterJump: byId("violation") !== null, frames,
              eventAfterJump: document.querySelector("#events .violation.current") !== null,
              cellAfterJump: document.querySelector("td.violation.differs[data-lane='1'][data-key='customers/7']") !== null };
            """#)
        // Then
        #expect(path.opened.hasPrefix(Self.text(SampleTimeline.violationTime)))
        #expect(path.home.hasPrefix(Self.text(0)))
        #expect(path.right.hasPrefix(Self.text(times[1])))
        #expect(path.right10.hasPrefix(Self.text(times[11])))
        #expect(path.left.hasPrefix(Self.text(times[10])))
        #expect(path.end.hasPrefix(Self.text(timeline.end)))
        #expect(path.jumped.hasPrefix(Self.text(SampleTimeline.violationTime)))
        #expect(!path.ringAtHome)
        #expect(path.ringAfterJump && path.eventAfterJump && path.cellAfterJump)
        try #require(path.frames.count == 3)
        #expect(path.frames[1] < path.frames[0] / 4 && path.frames[2] > path.frames[1] * 1.5)
    }

    @Test("zooms with the wheel, pans by dragging, reads tips, and pins one")
    func pointer() async throws {
        // Given
        struct Findings: Decodable {
            let zoomed, panned, unpanned: Double
            let tip: String
            let pinnedStays, goneAfterEscape, clickMoves: Bool
            let breaksTrue, breaksSqueezed: Int
            let dimmed: Int
            let filtered: [String]
        }
        // When
        let findings: Findings = try await Browser().findings(
            in: SampleTimeline.rich.page(),
            #"""
            const frame = name => Number(byId("frame").getAttribute(name));
            const box = byId("chart").getBoundingClientRect();
            await click("all");
            const whole = frame("width");
            await point("wheel", box.left + 700, box.top + 200, { deltaY: -800 });
            const zoomed = frame("width") / whole;
            const before = frame("x");
            await point("pointerdown", box.left + 700, box.top + 60);
            await point("pointermove", box.left + 500, box.top + 60);
            const panned = frame("x") - before;
            await point("pointerup", box.left + 500, box.top + 60);
            await press("f");
            // Over the middle of the message that did the harm.
            const path = document.querySelector("#layer-messages .suspect");
            const [x1, y1, x2, y2] = path.getAttribute("d").match(/[-\d.]+/g).map(Number);
            const [x, y] = [box.left + (x1 + x2) / 2, box.top + (y1 + y2) / 2];
            await point("pointermove", x, y, { buttons: 0 });
            const tip = byId("tip").textContent;
            await point("pointerdown", x, y);
            await point("pointerup", x, y);
            await point("pointermove", box.left + 300, box.top + 30, { buttons: 0 });
            const pinnedStays = !byId("tip").hidden && byId("tip").classList.contains("pinned");
            await press("Escape");
            const goneAfterEscape = byId("tip").hidden;
            const old = byId("now").textContent;
            await point("pointerdown", box.left + 230, box.top + 40);
            await point("pointerup", box.left + 230, box.top + 40);
            const clickMoves = byId("now").textContent !== old;
            await click("all");
            const breaksSqueezed = all(".break").length;
            await click("true-scale");
            const breaksTrue = all("#layer-breaks .break").length;
            await click("true-scale");
            await press("f");
            document.querySelector("tr[data-key='customers/8'] button").click();
            await settle();
            const dimmed = all("#layer-writes .dim").length;
            byId("filter").value = "mers/8";
            byId("filter").dispatchEvent(new Event("input"));
            const filtered = all("#state tbody tr").map(row => row.dataset.key);
            return { zoomed, panned, unpanned: before, tip, pinnedStays, goneAfterEscape, clickMoves, breaksTrue, breaksSqueezed, dimmed, filtered };
            """#)
        // Then
        #expect(findings.zoomed < 0.5)
        #expect(findings.panned > 5)
        #expect(
            findings.tip.contains("200: customers/7 at a-4 (delayed)") && findings.tip.contains("2 d 14:00:01.230")
                && findings.tip.contains("700 ms"))
        #expect(findings.pinnedStays && findings.goneAfterEscape && findings.clickMoves)
        #expect(findings.breaksSqueezed > 0 && findings.breaksTrue == 0)
        #expect(findings.dimmed > 0)
        #expect(findings.filtered == ["", "customers/8"])
    }

    @Test("sees days of sleep squeezed to no more than half of the axis, and as they are on the true scale")
    func axis() async throws {
        // Given: bursts of a few milliseconds, seconds and days apart.
        struct Axis: Decodable {
            let squeezed, real: [Double]
            let labels: [String]
        }
        var timeline = Timeline(title: "sleepers", lanes: [.init(name: "server", detail: ""), .init(name: "phone", detail: "")])
        let day: Int64 = 86_400_000
        for burst in 0..<20 {
            let begin = Int64(burst) * 5_000 + Int64(burst / 5) * 3 * day
            for step in 0..<4 as Range<Int64> {
                let sent = begin + 7 * step
                timeline.messages.append(.init(from: 1, to: 0, sent: sent, ended: sent + 4, delivery: .arrived, label: "GET"))
            }
        }
        timeline.end = 10 * day
        // When: where each message begins, as a share of the width from the first to the last.
        let axis: Axis = try await Browser().findings(
            in: timeline.page(),
            #"""
            const places = () => {
              const list = all("#layer-messages path").sort((one, other) => one.dataset.index - other.dataset.index)
                .map(path => Number(path.getAttribute("d").match(/^M([-\d.]+)/)[1]));
              return list.map(x => (x - list[0]) / (list[list.length - 1] - list[0]));
            };
            await click("all");
            const squeezed = places();
            const labels = all(".break-label").map(element => element.textContent);
            await click("true-scale");
            return { squeezed, real: places(), labels };
            """#)
        // Then every burst is apart from the next, and each message of a burst from the others.
        #expect(axis.squeezed.count == timeline.messages.count)
        #expect(axis.squeezed.enumerated().allSatisfy { index, place in index == 0 || place > axis.squeezed[index - 1] })
        let bursts = stride(from: 0, to: 80, by: 4).map { axis.squeezed[$0 + 3] - axis.squeezed[$0] }
        #expect(bursts.reduce(0, +) > 0.35)
        #expect(axis.labels.contains("2 d 23 h") || axis.labels.contains("3 d"))
        // On the true scale the five bursts of a day lie on one spot, and are drawn as one.
        #expect(axis.real.count < 10)
    }
}
