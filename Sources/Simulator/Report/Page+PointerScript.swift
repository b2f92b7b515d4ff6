extension Page {
    /// What the pointer does: tips and pins, panning, zooming.
    static let pointerScript = #"""
        const tip = byId("tip");
        const rank = { breach: 0, mark: 1, write: 2, message: 3, fault: 4 };
        function distanceTo(line, x, y) {
          const width = line.x2 - line.x1;
          const height = line.y2 - line.y1;
          const share = Math.min(1, Math.max(0, ((x - line.x1) * width + (y - line.y1) * height) / (width * width + height * height || 1)));
          return Math.hypot(x - line.x1 - share * width, y - line.y1 - share * height);
        }
        // The target under the pointer: the smallest one wins, and an arrow is hit within six pixels.
        function targetAt(x, y) {
          if (x < gutter) return null;
          let best = null;
          let bestScore = Infinity;
          for (const target of targets) {
            const isLine = target.kind === "message";
            const distance = isLine ? distanceTo(target, x, y)
              : x >= target.left - 2 && x <= target.right + 2 && y >= target.top && y <= target.bottom ? 0 : Infinity;
            const score = rank[target.kind] * 100 + distance;
            if (distance <= 6 && score < bestScore) {
              best = target;
              bestScore = score;
            }
          }
          return best;
        }

        // A target in words: a heading and pairs of name and value; `time` is where "go there" leads.
        function wordsOf(target) {
          const index = target.indexes[0];
          const more = target.indexes.length - 1;
          const pairs = [];
          if (more > 0) pairs.push(["here", more.toLocaleString("en") + " more in the same place: zoom in"]);
          if (target.kind === "message") {
            const item = messages[index];
            const fates = { arrived: "arrived", lost: "lost on its way", ignored: "arrived when nobody waited for it any more",
              refused: "not sent", intercepted: "ended on its way", underWay: "under way when the run ended" };
            const more = [["came of it", item.outcome], ["position", item.cursor]].filter(([, text]) => text);
            return { title: item.label, time: item.sent, pairs: [["from", lanes[item.from].name], ["to", lanes[item.to].name],
              ["fate", fates[item.fate]], ["sent", timeText(item.sent)], ["ended", timeText(item.ended)],
              ["took", durationText(item.ended - item.sent)], ...more, ...pairs] };
          }
          if (target.kind === "write") {
            const item = writes[index];
            return { title: item.key + "\n" + item.label, time: item.from, pairs: [["device", lanes[item.lane].name],
              ...item.steps.map(step => [stageWords[step.stage], timeText(step.time)]),
              ["lasted", durationText(item.to - item.from)], ...pairs] };
          }
          if (target.kind === "fault") {
            const item = faults[index];
            return { title: item.label, time: item.from, pairs: [["fault of", item.lanes.map(lane => lanes[lane].name).join(", ")],
              ["from", timeText(item.from)], ["to", timeText(item.to)], ["lasted", durationText(item.to - item.from)], ...pairs] };
          }
          if (target.kind === "mark") {
            const item = marks[index];
            return { title: item.label, time: item.time, pairs: [["at", lanes[item.lane].name], ["time", timeText(item.time)],
              ...target.indexes.slice(1, 8).map(other => [timeText(marks[other].time), marks[other].label])] };
          }
          return { title: "Violation of rule " + breach.rule, time: breach.time, pairs: [["by", lanes[breach.lane].name],
            ["time", timeText(breach.time)], ["seen", breach.text]] };
        }
        function showTip(target, event) {
          const words = wordsOf(target);
          const list = tag("dl", {});
          for (const [name, value] of words.pairs) list.append(tag("dt", {}, name), tag("dd", {}, value));
          tip.replaceChildren(tag("h3", {}, words.title), list);
          if (state.pinned) {
            const go = tag("button", { type: "button" }, "Go to this moment");
            go.addEventListener("click", () => goTo(momentNearest(words.time)));
            const close = tag("button", { type: "button" }, "Close (Esc)");
            close.addEventListener("click", unpin);
            tip.append(tag("p", { class: "row" }, go, close));
          }
          tip.classList.toggle("pinned", state.pinned !== null);
          tip.hidden = false;
          const box = tip.getBoundingClientRect();
          tip.style.left = Math.max(6, Math.min(event.clientX + 14, innerWidth - box.width - 10)) + "px";
          const isRoomBelow = event.clientY + 16 + box.height < innerHeight;
          tip.style.top = Math.max(6, isRoomBelow ? event.clientY + 16 : event.clientY - box.height - 12) + "px";
        }
        function unpin() {
          state.pinned = null;
          state.hover = null;
          tip.hidden = true;
          drawHovered();
        }

        let drag = null;
        const inChart = event => {
          const box = chart.getBoundingClientRect();
          return [event.clientX - box.left, event.clientY - box.top];
        };
        chart.addEventListener("pointerdown", event => {
          if (event.button !== 0) return;
          drag = { x: event.clientX, from: state.from, to: state.to, moved: false };
          chart.setPointerCapture(event.pointerId);
        });
        chart.addEventListener("pointermove", event => {
          if (drag) {
            const shift = event.clientX - drag.x;
            if (Math.abs(shift) > 4) drag.moved = true;
            if (!drag.moved) return;
            chart.classList.add("dragging");
            setWindow(drag.from - shift / view.perUnit, drag.to - shift / view.perUnit);
            return;
          }
          const target = targetAt(...inChart(event));
          if (target !== state.hover) {
            state.hover = target;
            drawHovered();
          }
          if (state.pinned) return;
          if (target) showTip(target, event); else tip.hidden = true;
        });
        chart.addEventListener("pointerup", event => {
          const wasDrag = drag?.moved;
          drag = null;
          chart.classList.remove("dragging");
          if (wasDrag) return;
          const [x, y] = inChart(event);
          const target = targetAt(x, y);
          if (state.pinned && !target) return unpin();
          if (target) {
            state.pinned = target;
            showTip(target, event);
            drawHovered();
          } else if (x >= gutter) goTo(momentNearest(timeAt(placeAtX(x))));
        });
        chart.addEventListener("pointercancel", () => { drag = null; });
        chart.addEventListener("pointerleave", () => {
          state.hover = null;
          if (!state.pinned) tip.hidden = true;
          drawHovered();
        });
        // Over the lanes' names the wheel scrolls the page as ever.
        chart.addEventListener("wheel", event => {
          const [x] = inChart(event);
          if (x < gutter) return;
          event.preventDefault();
          const amount = event.deltaMode === 1 ? 30 : 1;
          if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            const shift = (event.deltaX || event.deltaY) * amount / view.perUnit;
            setWindow(state.from + shift, state.to + shift);
          } else zoom(Math.exp(event.deltaY * amount * 0.002), placeAtX(x));
        }, { passive: false });
        """#
}
