extension Page {
    /// The chart's frame: the visible window, the places of the lanes, the axis, the squeezed stretches, and the order of drawing.
    static let chartScript = #"""
        const chart = byId("chart");
        const gutter = 190;
        const axisTop = 24;
        const lanesTop = breach ? 56 : 30;
        const rowHeight = 19;
        // No more elements of a kind than this are drawn, however many messages a run has: those in the same place are drawn as one.
        const limits = { arrived: 800, troubled: 400, pieces: 700, marks: 300, cursors: 300, faults: 150, breaks: 120, labels: 120 };
        const view = { width: 1200, plot: 1010, perUnit: 1 };

        const faultHeight = 15;

        // Where each lane lies, from its top: faults, marks' labels, the line of life, cursors, the writes' bars.
        const laneBoxes = [];
        let chartHeight = lanesTop;
        for (const [index] of lanes.entries()) {
          const hasMarks = marks.some(item => item.lane === index);
          const line = 22 + faultRows[index] * faultHeight + (hasMarks ? 14 : 0);
          const bars = line + (heldBy[index].has("") ? 22 : 14);
          // Below the server's line the arrows fan out: they need room for their labels.
          const height = Math.max(index === 0 ? line + 46 : 62, bars + rowsOfLane[index] * rowHeight + 8);
          laneBoxes.push({ top: chartHeight, line: chartHeight + line, bars: chartHeight + bars, height });
          chartHeight += height;
        }
        // Below the lanes the axis stands once more: with many lanes the upper one scrolls away.
        const axisBottom = chartHeight + 4;
        chartHeight += 24;

        const xOf = place => gutter + (place - state.from) * view.perUnit;
        const xOfTime = time => xOf(placeOf(time));
        const placeAtX = x => state.from + (x - gutter) / view.perUnit;
        const isVisible = (from, to) => to >= state.from && from <= state.to;

        // What the pointer can meet, from the frame drawn last.
        let targets = [];

        // Labels are placed in turn. A label that would cover another is left out; its tip still shows the text.
        let taken = [];
        let labels = 0;
        let hiddenLabels = 0;
        const pen = document.createElement("canvas").getContext("2d");
        const fonts = new Map();
        function widthOf(text, className) {
          if (!fonts.has(className)) {
            const sample = shape("text", { class: className });
            chart.append(sample);
            const style = getComputedStyle(sample);
            fonts.set(className, style.fontWeight + " " + style.fontSize + " " + style.fontFamily);
            sample.remove();
          }
          pen.font = fonts.get(className);
          return pen.measureText(text).width;
        }
        // As much of a text as `room` pixels take.
        function fitted(text, className, room) {
          const whole = shortened(text, 200);
          const width = widthOf(whole, className);
          return width <= room ? whole : shortened(whole, Math.floor(whole.length * room / width));
        }
        function take(left, right, top, bottom) { taken.push({ left, right, top, bottom }); }
        function label(layer, x, y, text, className, length = 40, end = view.width) {
          if (labels >= limits.labels) return false;
          const short = shortened(text, length);
          const width = widthOf(short, className) + 4;
          const box = { left: x - 2, right: x + width, top: y - 10, bottom: y + 3 };
          if (box.left < gutter || box.right > end) return false;
          const covers = other => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top;
          if (taken.some(covers)) return false;
          taken.push(box);
          labels += 1;
          layer.append(shape("text", { x: pixel(x), y: pixel(y), class: className }, short));
          return true;
        }

        // Groups items of one kind that would be drawn in the same place, from `leftOf` to `rightOf` in pixels. The places grow coarser
        // until no more than `limit` groups are left. The middle item stands for its group, so that many groups do not line up in columns.
        function gathered(items, limit, kindOf, leftOf, rightOf = leftOf) {
          const kinds = new Map();
          const bounded = x => Math.min(8000, Math.max(-8000, x));
          const spots = items.map(item => {
            const name = kindOf(item);
            if (!kinds.has(name)) kinds.set(name, kinds.size);
            return { item, kind: kinds.get(name), left: bounded(leftOf(item)), right: bounded(rightOf(item)) };
          });
          for (let grain = 2; ; grain *= 1.5) {
            const groups = new Map();
            for (const { item, kind, left, right } of spots) {
              const key = (kind * 8192 + Math.round(left / grain)) * 8192 + Math.round(right / grain);
              const group = groups.get(key);
              if (group) group.push(item); else groups.set(key, [item]);
            }
            if (groups.size > limit && grain < 4096) continue;
            const lists = [...groups.values()];
            for (const list of lists) list.unshift(...list.splice(list.length >> 1, 1));
            return lists;
          }
        }

        function definitions() {
          const definitions = shape("defs", {});
          const head = (name, className, path, size, tip) => {
            const marker = shape("marker", { id: "head-" + name, viewBox: "-6 -6 12 12", refX: tip, refY: 0, markerWidth: size,
              markerHeight: size, markerUnits: "userSpaceOnUse", orient: name === "lost" ? "0" : "auto" });
            marker.append(shape("path", { d: path, class: "head " + className }));
            definitions.append(marker);
          };
          head("arrived", "", "M-5 -4L5 0L-5 4Z", 10, 5);
          head("suspect", "strong", "M-5 -4L5 0L-5 4Z", 15, 5);
          head("ignored", "open", "M-5 -4L5 0L-5 4Z", 10, 5);
          head("refused", "bar", "M0 -5V5", 14, 0);
          head("intercepted", "box", "M-4 -4H4V4H-4Z", 12, 0);
          head("lost", "cross", "M-4 -4L4 4M4 -4L-4 4", 14, 0);
          head("underWay", "ring", "M-3 0A3 3 0 1 0 3 0A3 3 0 1 0 -3 0", 12, 3);
          const pattern = (id, size, rotation, base, stripe, width, opacity) => {
            const pattern = shape("pattern", { id: id + "-pattern", width: size, height: size, patternUnits: "userSpaceOnUse",
              patternTransform: "rotate(" + rotation + ")" });
            pattern.append(shape("rect", { width: size, height: size, style: "fill:" + base }));
            pattern.append(shape("rect", { width, height: size, style: "fill:" + stripe + ";fill-opacity:" + opacity }));
            definitions.append(pattern);
          };
          pattern("pending", 8, 45, "var(--pending)", "#ffffff", 3, 0.4);
          pattern("rejected", 6, -45, "var(--rejected)", "#ffffff", 2, 0.35);
          pattern("fault", 9, 30, "color-mix(in srgb, var(--fault) 13%, transparent)", "var(--fault)", 2.5, 0.22);
          const clip = shape("clipPath", { id: "plot" });
          clip.append(shape("rect", { id: "plot-box", x: gutter, y: 0, width: 10, height: chartHeight }));
          definitions.append(clip);
          return definitions;
        }

        const layerNames = ["bands", "breaks", "faults", "axis", "writes", "messages", "marks", "labels", "away", "now", "violation",
          "hovered"];
        const layers = {};
        function buildChart() {
          const plot = shape("g", { "clip-path": "url(#plot)" });
          for (const name of layerNames) {
            layers[name] = shape("g", { id: "layer-" + name });
            plot.append(layers[name]);
          }
          layers.gutter = shape("g", { id: "layer-gutter" });
          chart.append(definitions(), plot, layers.gutter);
          chart.setAttribute("height", chartHeight);
          chart.style.height = chartHeight + "px";
        }

        function drawAxis() {
          const bottom = axisBottom;
          const apart = runEnd < 60000 ? 70 : runEnd < 86400000 ? 100 : 120;
          layers.axis.replaceChildren();
          layers.breaks.replaceChildren();
          const breaks = scale.gaps.filter(gap => isVisible(gap.begin, gap.end) && (gap.end - gap.begin) * view.perUnit >= 3);
          // The longest first, should there be too many.
          breaks.sort((one, other) => (other.end - other.begin) - (one.end - one.begin));
          for (const gap of breaks.slice(0, limits.breaks)) {
            const left = xOf(gap.begin);
            const width = (gap.end - gap.begin) * view.perUnit;
            const height = bottom - axisTop;
            layers.breaks.append(shape("rect", { x: pixel(left), y: axisTop, width: pixel(width), height, class: "break" }));
            if (width >= 8) {
              const middle = pixel(left + width / 2);
              const d = `M${middle - 5} ${axisTop + 3}l4 -7M${middle + 1} ${axisTop + 3}l4 -7`;
              layers.breaks.append(shape("path", { class: "break-sign", d }));
            }
            const text = durationText(gap.to - gap.from);
            label(layers.breaks, left + width / 2 - widthOf(text, "quiet mono") / 2, 12, text, "quiet mono break-label", 20);
          }
          for (const tick of ticksIn(state.from, state.to, apart)) {
            layers.axis.append(shape("line", { x1: pixel(tick.x), x2: pixel(tick.x), y1: axisTop, y2: bottom, class: "grid" }));
            label(layers.axis, tick.x + 3, 12, timeText(tick.time, tick.step), "mono tick", 30);
            label(layers.axis, tick.x + 3, axisBottom + 13, timeText(tick.time, tick.step), "mono tick", 30);
          }
        }

        let isDrawn = false;
        function draw() {
          isDrawn = true;
          taken = [];
          labels = 0;
          hiddenLabels = 0;
          targets = [];
          for (const name of ["faults", "writes", "messages", "marks", "labels", "away", "violation"]) layers[name].replaceChildren();
          drawViolation();
          drawAxis();
          drawFaults();
          drawWrites();
          drawMarks();
          drawMessages();
          drawCursors();
          byId("label-note").textContent = hiddenLabels === 0 ? "" : "· " + counted(hiddenLabels, "label") + " left out: zoom in, or point";
          drawNow();
          drawHovered();
          drawFrame();
        }
        // At most one frame for each of the browser's.
        function drawSoon() {
          if (!isDrawn) return;
          isDrawn = false;
          requestAnimationFrame(draw);
        }
        """#
}
