extension Page {
    /// The head of the page, the slider, the buttons, the keyboard, and the start of the script.
    static let controlScript = #"""
        const slider = byId("moment");

        function setWindow(from, to) {
          const length = Math.min(Math.max(to - from, Math.min(4, scale.length)), scale.length * 1.06);
          const least = -0.03 * scale.length;
          const begin = Math.min(Math.max(from, least), 1.03 * scale.length - length);
          state.from = Math.max(begin, least);
          state.to = state.from + length;
          view.perUnit = view.plot / (state.to - state.from);
          drawSoon();
        }
        function zoom(factor, place) {
          const length = Math.min(Math.max((state.to - state.from) * factor, Math.min(4, scale.length)), scale.length * 1.06);
          const share = (place - state.from) / (state.to - state.from);
          setWindow(place - share * length, place + (1 - share) * length);
        }
        const showAll = () => setWindow(-0.03 * scale.length, 1.03 * scale.length);

        // Sets properties of the state, and redraws the parts that depend on them.
        function change(changes) {
          Object.assign(state, changes);
          slider.value = String(state.moment);
          const time = moments[state.moment];
          const words = timeText(time) + "  ·  " + (state.moment + 1) + " of " + moments.length;
          byId("now").textContent = words;
          slider.setAttribute("aria-valuetext", timeText(time) + ", moment " + (state.moment + 1) + " of " + moments.length);
          byId("back").disabled = state.moment === 0;
          byId("on").disabled = state.moment === moments.length - 1;
          drawState();
          drawEvents();
          drawSoon();
        }
        // Chooses a moment and brings it into the window.
        function goTo(index) {
          const moment = Math.min(moments.length - 1, Math.max(0, index));
          const place = placeOf(moments[moment]);
          const length = state.to - state.from;
          if (place < state.from || place > state.to) setWindow(place - 0.6 * length, place + 0.4 * length);
          change({ moment });
        }
        // Goes to the violation, with the events before it in view; without one to the first fault, with the events after it.
        function goToIncident() {
          if (incident === null) return;
          const place = placeOf(incident);
          const [from, to] = incidentWindow();
          if (place < state.from || place > state.to || state.to - state.from > 4 * (to - from)) setWindow(from, to);
          goTo(lastUpTo(moments, incident, identity));
        }
        // The window of the last events up to the violation, or from the beginning where there are few; of the first fault that of the
        // events after it. Sixty events for two devices, more for more.
        const eventsInView = Math.min(180, Math.max(60, 20 * lanes.length));
        function incidentWindow() {
          const place = placeOf(incident);
          const last = lastUpTo(places.events, place, identity);
          if (breach) {
            const first = last < eventsInView + 20 ? -0.03 * scale.length : places.events[last - eventsInView];
            const length = Math.max(place - first, scale.length * 1e-6, 4);
            return [place - 1.02 * length, place + 0.2 * length];
          }
          const end = places.events[last + eventsInView] ?? 1.03 * scale.length;
          const length = Math.max(end - place, scale.length * 1e-6, 4);
          return [place - 0.12 * length, place + 1.02 * length];
        }

        function resize() {
          const width = Math.max(700, chart.clientWidth || 1200);
          view.width = width;
          view.plot = width - gutter;
          view.perUnit = view.plot / (state.to - state.from);
          byId("plot-box").setAttribute("width", view.plot);
          drawLanes();
          drawOverview();
          drawSoon();
        }

        function fillHead() {
          byId("title").textContent = data.title;
          const lost = messages.filter(item => item.fate === "lost").length;
          const ignored = messages.filter(item => item.fate === "ignored").length;
          const stopped = messages.filter(item => item.fate === "refused" || item.fate === "intercepted").length;
          const fates = [[lost, "lost"], [stopped, "refused or intercepted"], [ignored, "ignored"]].filter(([count]) => count > 0)
            .map(([count, word]) => count.toLocaleString("en") + " " + word);
          const parts = [counted(Math.max(0, lanes.length - 1), "device"), counted(messages.length, "message"),
            counted(writes.length, "write"), counted(faults.length, "fault"), durationText(data.end) + " of virtual time"];
          if (fates.length > 0) parts[1] += " (" + fates.join(", ") + ")";
          byId("summary").textContent = parts.join(" · ");
          byId("command").textContent = data.command;
          byId("again").hidden = data.command === "";
          byId("scenario").textContent = data.scenario;
          byId("scenario-box").hidden = data.scenario === "";
          const verdict = byId("verdict");
          if (breach) {
            const show = tag("button", { type: "button", id: "show" }, "Show it (f)");
            show.addEventListener("click", goToIncident);
            verdict.className = "broken";
            verdict.append(tag("h2", {}, "✖ Rule broken: " + breach.rule),
              tag("span", {}, "by ", tag("strong", {}, lanes[breach.lane].name), " at " + timeText(breach.time)), show,
              tag("p", {}, breach.text));
          } else {
            verdict.className = "held";
            verdict.append(tag("h2", {}, "✓ No rule was broken"));
          }
          byId("jump").hidden = byId("jump-key").hidden = incident === null;
          byId("jump").textContent = breach ? "Violation" : "First fault";
          byId("jump").title = breach ? "Go to the violation (f)" : "Go to the first fault (f)";
          byId("jump-word").textContent = breach ? "violation" : "first fault";
          byId("idle-box").hidden = idleMessages === 0;
          byId("idle-note").textContent = "Polls that brought nothing (" + counted(idleMessages, "message") + ")";
          byId("events-title").textContent = breach ? "What led to it" : "What happened";
        }
        function fillLegend() {
          const sample = (...children) => {
            const picture = shape("svg", { width: 34, height: 16, "aria-hidden": "true" });
            picture.append(...children);
            return picture;
          };
          const add = (picture, text) => byId("legend").append(tag("li", {}, picture, text));
          const messageWords = { arrived: "message", lost: "lost", refused: "refused: not sent", intercepted: "ended on its way",
            ignored: "ignored: nobody waited", underWay: "under way at the end" };
          for (const fate in messageWords) {
            if (!messages.some(item => item.fate === fate)) continue;
            const d = fate === "arrived" || fate === "ignored" ? "M1 8H32" : "M1 8H24";
            add(sample(shape("path", { d, class: "message " + fate })), messageWords[fate]);
          }
          const suspectSample = shape("path", { d: "M1 8H32", class: "message arrived suspect" });
          if (suspect >= 0) add(sample(suspectSample), "the last to arrive before the violation");
          for (const stage in stageWords) {
            if (!writes.some(item => item.steps.some(step => step.stage === stage))) continue;
            const children = [shape("rect", { x: 4, y: 1, width: 26, height: 14, rx: 2, class: "write " + stage })];
            if (lastStages.has(stage) || stage === "rejected") {
              children.push(shape("path", { d: signs[stage], class: "write-sign", transform: "translate(17 8)" }));
            }
            add(sample(...children), stage === "pending" ? "write pending" : stageWords[stage]);
          }
          if (faults.length > 0) add(sample(shape("rect", { x: 1, y: 1, width: 32, height: 14, class: "fault" })), "fault");
          if (marks.length > 0) add(sample(shape("path", { d: "M17 3l5 5l-5 5l-5 -5Z", class: "mark" })), "mark");
          const hasCursors = heldBy.some(held => held.has(""));
          if (hasCursors) add(sample(shape("text", { x: 2, y: 12, class: "mono cursor" }, "▸@7")), "cursor moves to revision 7");
          if (scale.gaps.length > 0) add(sample(shape("rect", { x: 5, y: 1, width: 24, height: 14, class: "break" })), "idle time, squeezed");
          if (breach) {
            add(sample(shape("circle", { cx: 17, cy: 8, r: 6, class: "violation-ring" }),
              shape("path", { d: "M14.5 5.5l5 5m0 -5l-5 5", class: "violation-cross" })), "rule broken");
          }
        }

        // Builds the axis again and keeps the same stretch of time in view.
        function setScale(changes) {
          const from = timeAt(state.from);
          const to = timeAt(state.to);
          const wasAll = state.to - state.from >= scale.length;
          const time = moments[state.moment];
          Object.assign(state, changes);
          moments = findMoments();
          events = findEvents();
          scale = makeScale(state.trueScale);
          workOutPlaces();
          slider.max = String(moments.length - 1);
          noteGaps();
          drawOverview();
          if (wasAll) showAll(); else setWindow(placeOf(from), placeOf(to));
          change({ moment: momentNearest(time) });
        }
        function noteGaps() {
          const count = scale.gaps.length;
          byId("scale-note").textContent = state.trueScale ? "" : count === 0 ? "nothing to squeeze"
            : counted(count, "idle stretch", "idle stretches") + " squeezed";
          byId("true-scale").disabled = count === 0 && !state.trueScale;
        }

        byId("copy").addEventListener("click", async () => {
          const select = () => {
            const range = document.createRange();
            range.selectNodeContents(byId("command"));
            getSelection().removeAllRanges();
            getSelection().addRange(range);
          };
          try {
            await navigator.clipboard.writeText(data.command);
            byId("copy").textContent = "Copied";
          } catch {
            select();
            byId("copy").textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C";
          }
        });
        slider.addEventListener("input", () => goTo(Number(slider.value)));
        byId("back").addEventListener("click", () => goTo(state.moment - 1));
        byId("on").addEventListener("click", () => goTo(state.moment + 1));
        const middle = () => {
          const place = placeOf(moments[state.moment]);
          return place >= state.from && place <= state.to ? place : (state.from + state.to) / 2;
        };
        byId("in").addEventListener("click", () => zoom(0.5, middle()));
        byId("out").addEventListener("click", () => zoom(2, middle()));
        byId("all").addEventListener("click", showAll);
        byId("jump").addEventListener("click", goToIncident);
        byId("true-scale").addEventListener("change", event => setScale({ trueScale: event.target.checked }));
        byId("idle").addEventListener("change", event => setScale({ showsIdle: event.target.checked }));
        byId("filter").addEventListener("input", drawState);
        byId("differing").addEventListener("change", drawState);
        addEventListener("keydown", event => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const element = event.target;
          const isWriting = element.matches?.("input[type=search], select, textarea");
          if (isWriting) return;
          const isSlider = element === slider;
          const step = event.shiftKey ? 10 : 1;
          const actions = {
            ArrowLeft: () => goTo(state.moment - step), ArrowRight: () => goTo(state.moment + step),
            Home: () => goTo(0), End: () => goTo(moments.length - 1),
            f: goToIncident, Escape: unpin,
            "+": () => zoom(0.5, middle()), "=": () => zoom(0.5, middle()), "-": () => zoom(2, middle()), "0": showAll,
          };
          const action = actions[event.key];
          // The slider knows its own keys.
          if (!action || isSlider && event.key.length > 1 && event.key !== "Escape") return;
          event.preventDefault();
          action();
        });

        fillHead();
        fillLegend();
        buildChart();
        slider.max = String(moments.length - 1);
        noteGaps();
        showTheme();
        showAll();
        isDrawn = true;
        resize();
        state.moment = incident === null ? moments.length - 1 : lastUpTo(moments, incident, identity);
        if (incident !== null) setWindow(...incidentWindow());
        change({});
        draw();
        new ResizeObserver(() => { if (chart.clientWidth !== view.width) resize(); }).observe(chart);
        """#
}
