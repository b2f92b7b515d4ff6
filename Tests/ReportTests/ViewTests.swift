import FreshetSimulator
import Testing

/// The view of a report when it opens, and after its controls are used, in a real browser.
@Suite("A report's view", .serialized, .browserThreads, .timeLimit(.minutes(15)))
struct ViewTests {
    @Test("opens at the violation, or at the first fault, or shows the whole of a run without either")
    func opening() async throws {
        // Given
        struct Opened: Decodable {
            let now: String
            let share: Double
            let faults: Int
            let jump: String
            let jumpIsHidden: Bool
        }
        let script = #"""
            const frame = Number(byId("frame").getAttribute("width"));
            const whole = byId("overview").clientWidth - 190;
            return { now: byId("now").textContent, share: frame / whole, faults: all("#layer-faults rect").length,
              jump: byId("jump").textContent, jumpIsHidden: byId("jump").hidden };
            """#
        let broken = CrowdedTimeline.timeline
        var faulty = broken
        faulty.violation = nil
        faulty.faults.removeAll { $0.from < 600_000 }
        var healthy = SampleTimeline.rich
        healthy.violation = nil
        healthy.faults = []
        let firstFault = try #require(faulty.faults.map(\.from).min())
        // When
        let browser = try Browser()
        let opened: [Opened] = [
            try await browser.findings(in: broken.page(), script), try await browser.findings(in: faulty.page(), script),
            try await browser.findings(in: healthy.page(), script),
        ]
        // Then
        #expect(opened[0].now.hasPrefix("15:00.000") && opened[0].share < 0.1 && opened[0].jump == "Violation")
        #expect(opened[1].now.hasPrefix("10:0") && opened[1].now.contains("\(firstFault % 1_000)"))
        #expect(opened[1].share < 0.1 && opened[1].faults > 0 && opened[1].jump == "First fault")
        #expect(opened[2].share > 0.9 && opened[2].jumpIsHidden)
    }

    @Test("hides polls that brought nothing, their moments and events, until its reader asks for them")
    func idle() async throws {
        // Given
        struct Counts: Decodable {
            let arrows, moments: Int
            let events: Bool
        }
        let timeline = SampleTimeline.rich
        let messages = timeline.messages.count
        let idle = timeline.messages.count(where: \.isIdle)
        // When
        let counts: [Counts] = try await Browser().findings(
            in: timeline.page(),
            #"""
            byId("events-lane").value = "2";
            byId("events-lane").dispatchEvent(new Event("change"));
            await click("all");
            const look = async () => {
              const shown = new Set();
              // The list has the last 13 events of a moment.
              for (let index = 0; index <= Number(byId("moment").max); index += 4) {
                await slide(index);
                for (const element of all("#events .what")) shown.add(element.textContent);
              }
              return { arrows: all("#layer-messages path").length, moments: Number(byId("moment").max) + 1,
                events: shown.has("← server: 204: nothing up to @3") };
            };
            const hidden = await look();
            await click("idle");
            const shown = await look();
            await click("idle");
            return [hidden, shown, await look()];
            """#)
        // Then
        #expect(counts.map(\.arrows) == [messages - idle, messages, messages - idle])
        #expect(counts[1].moments > counts[0].moments && counts[2].moments == counts[0].moments)
        #expect(counts.map(\.events) == [false, true, false])
    }

    @Test("names the epoch of a position where it changes and in tips, and nowhere else")
    func epochs() async throws {
        // Given
        struct Shown: Decodable {
            let labels: [String]
            let cells: [[String]]
            let title, tip: String
        }
        var timeline = Timeline(title: "epochs", end: 4_000, lanes: [.init(name: "server", detail: ""), .init(name: "phone", detail: "")])
        for (lane, time, value) in [(0, 0, "first-1"), (1, 500, "first-1"), (0, 1_500, "second-1"), (1, 2_500, "second-2-9")] {
            timeline.holdings.append(.init(lane: lane, time: Int64(time), key: "", value: value, detail: ""))
        }
        timeline.messages = [
            .init(from: 1, to: 0, sent: 600, ended: 900, delivery: .arrived, label: "GET changes since @1", cursor: "first-1")
        ]
        // When
        let shown: Shown = try await Browser().findings(
            in: timeline.page(),
            #"""
            const labels = all("#layer-labels .cursor").map(element => element.textContent);
            const cells = [];
            for (let index = 0; index <= Number(byId("moment").max); index += 1) {
              await slide(index);
              cells.push(all("#state td[data-key='']").map(element => element.textContent));
            }
            const title = document.querySelector("#state td[data-lane='1'] .value").title;
            const box = byId("chart").getBoundingClientRect();
            const [x1, y1, x2, y2] = document.querySelector("#layer-messages path").getAttribute("d").match(/[-\d.]+/g).map(Number);
            await point("pointermove", box.left + (x1 + x2) / 2, box.top + (y1 + y2) / 2, { buttons: 0 });
            return { labels, cells, title, tip: byId("tip").textContent };
            """#)
        // Then
        #expect(shown.labels.sorted() == ["▸@1", "▸@1", "▸@1 of second", "▸@2 of second"])
        #expect(shown.cells.first == ["@1", "–"])
        #expect(shown.cells.contains(["@1new epoch second", "@1epoch first, the server has second"]))
        #expect(shown.cells.last == ["@1", "@2"])
        #expect(shown.title == "second-2-9")
        #expect(shown.tip.contains("first-1"))
    }

    @Test("lets no label cover another at any zoom, and counts those that are left out")
    func labels() async throws {
        // Given
        struct Look: Decodable {
            let overlaps: [String]
            let labels: Int
            let note: String
        }
        // When
        let script = #"""
            const looks = [];
            const look = () => {
              const boxes = all("#layer-labels text, #layer-axis text, #layer-breaks text").map(element => {
                const box = element.getBoundingClientRect();
                return { text: element.textContent, left: box.left, right: box.right, top: box.top + 2, bottom: box.bottom - 2 };
              });
              const overlaps = [];
              boxes.forEach((one, index) => boxes.slice(index + 1).forEach(other => {
                const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
                const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
                if (width > 1 && height > 1) overlaps.push(one.text + " / " + other.text);
              }));
              looks.push({ overlaps, labels: boxes.length, note: byId("label-note").textContent });
            };
            look();
            await click("all");
            for (let step = 0; step < 14; step += 1) {
              look();
              await press("+");
            }
            return looks;
            """#
        let browser = try Browser()
        let rich: [Look] = try await browser.findings(in: SampleTimeline.rich.page(), script)
        let crowded: [Look] = try await browser.findings(in: CrowdedTimeline.timeline.page(), script)
        // Then
        for look in rich + crowded { #expect(look.overlaps == []) }
        #expect(rich.contains { $0.labels > 20 } && crowded.contains { $0.labels > 20 })
        #expect(crowded[1].note.contains("labels left out"))
    }

    @Test("shows the messages of one device when its reader chooses it, by the list or by its lane's name")
    func oneDevice() async throws {
        // Given
        let timeline = SampleTimeline.rich
        // When: the indexes of the messages drawn.
        let drawn: [[Int]] = try await Browser().findings(
            in: timeline.page(),
            #"""
            await click("all");
            const drawn = () => all("#layer-messages path").map(path => Number(path.dataset.index)).sort((one, other) => one - other);
            const looks = [drawn()];
            byId("messages-lane").value = "2";
            byId("messages-lane").dispatchEvent(new Event("change"));
            await settle();
            looks.push(drawn());
            for (let time = 0; time < 2; time += 1) {
              document.querySelector(".lane[data-lane='3']").dispatchEvent(new MouseEvent("click", { bubbles: true }));
              await settle();
              looks.push(drawn());
            }
            return looks;
            """#)
        // Then
        func expected(_ lane: Int?) -> [Int] {
            timeline.messages.indices.filter { index in
                let message = timeline.messages[index]
                return !message.isIdle && (lane == nil || message.from == lane || message.to == lane)
            }
        }
        #expect(drawn == [expected(nil), expected(2), expected(3), expected(nil)])
    }

    @Test("can be read in light and dark, which its button changes", arguments: [false, true])
    func contrast(isDark: Bool) async throws {
        // Given
        struct Text: Decodable {
            let text: String
            let contrast: Double
        }
        struct Look: Decodable {
            let background, button: String
            let faint: [Text]
            let texts: Int
        }
        var browser = try Browser()
        browser.isDark = isDark
        // When: the WCAG contrast of every text with the nearest background that is not transparent.
        let looks: [Look] = try await browser.findings(
            in: SampleTimeline.rich.page(),
            #"""
            // The browser itself works out colours such as color-mix().
            const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
            const pixel = colour => {
              pen.clearRect(0, 0, 1, 1);
              pen.fillStyle = colour;
              pen.fillRect(0, 0, 1, 1);
              return [...pen.getImageData(0, 0, 1, 1).data];
            };
            const luminance = ([red, green, blue]) => {
              const part = value => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
              return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
            };
            const contrast = (one, other) => {
              const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
              return (high + 0.05) / (low + 0.05);
            };
            const backgroundOf = element => {
              for (let outer = element; outer; outer = outer.parentElement) {
                const colour = pixel(getComputedStyle(outer).backgroundColor);
                if (colour[3] === 255) return colour;
              }
              return [255, 255, 255];
            };
            const look = () => {
              const texts = [];
              for (const element of all("body *")) {
                const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
                if (!own || element.closest("script, noscript, title, [hidden], .chip, .hidden")) continue;
                const style = getComputedStyle(element);
                const isDrawn = element.closest("svg") !== null;
                if (isDrawn && element.matches(".write-label, .violation-text, .break-label")) continue;
                texts.push({ text: element.textContent.trim().slice(0, 60),
                  contrast: contrast(pixel(isDrawn ? style.fill : style.color), backgroundOf(element)) });
              }
              return { background: getComputedStyle(document.body).backgroundColor, button: byId("theme").textContent,
                faint: texts.filter(item => item.contrast < 4.5), texts: texts.length };
            };
            const looks = [look()];
            await click("theme");
            looks.push(look());
            await click("theme");
            looks.push(look());
            return looks;
            """#)
        // Then
        let (light, dark) = ("rgb(246, 247, 249)", "rgb(17, 21, 27)")
        #expect(looks.map(\.background) == (isDark ? [dark, light, dark] : [light, dark, light]))
        #expect(looks.map { $0.button.contains("Light") } == [isDark, !isDark, isDark])
        for look in looks {
            #expect(look.texts > 100)
            #expect(look.faint.map { "\($0.text): \($0.contrast)" } == [])
        }
    }

    @Test("has room for eight devices: all lanes in 1,100 pixels, and names on all of them")
    func eightDevices() async throws {
        // Given
        struct Lanes: Decodable {
            let height: Double
            let names: [String]
            let ticks: [Double]
        }
        // When
        let lanes: Lanes = try await Browser().findings(
            in: CrowdedTimeline.timeline.page(),
            #"""
            return { height: byId("chart").getBoundingClientRect().height, names: all(".lane-name").map(element => element.textContent),
              ticks: all("#layer-axis .tick").map(element => Number(element.getAttribute("y"))) };
            """#)
        // Then: the axis stands above and below.
        #expect(lanes.height < 1_100)
        #expect(lanes.names == CrowdedTimeline.timeline.lanes.map(\.name))
        #expect(Set(lanes.ticks).count == 2)
    }
}
