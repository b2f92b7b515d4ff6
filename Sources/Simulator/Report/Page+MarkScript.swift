extension Page {
    /// Moments of a lane: marks, cursors, the violation, and the line of the current moment.
    static let markScript = #"""
        function drawMarks() {
          const visible = marks.map((_, index) => index).filter(index => isVisible(places.marks[index], places.marks[index]));
          const groups = gathered(visible, limits.marks, index => marks[index].lane, index => xOf(places.marks[index]));
          for (const group of groups) {
            const mark = marks[group[0]];
            const x = xOf(places.marks[group[0]]);
            const y = laneBoxes[mark.lane].line;
            layers.marks.append(shape("path", { d: `M${pixel(x)} ${y - 5}l5 5l-5 5l-5 -5Z`, class: "mark", "data-index": group[0] }));
            targets.push({ kind: "mark", indexes: group, left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 });
            take(x - 5, x + 5, y - 5, y + 5);
            const text = group.length === 1 ? shortened(mark.label, 26) : shortened(mark.label, 23) + " +" + (group.length - 1);
            if (!label(layers.labels, x - 3, y - 8, text, "mark-label")) hiddenLabels += 1;
          }
        }

        function drawCursors() {
          const changes = [];
          heldBy.forEach((held, lane) => (held.get("") ?? []).forEach((holding, index, list) => {
            const place = places.cursors[lane][index];
            const before = list[index - 1];
            if (!isVisible(place, place) || before && before.value === holding.value) return;
            const position = positionOf(holding.value);
            const isNew = position.epoch !== null && position.epoch !== positionOf(before?.value).epoch;
            changes.push({ lane, holding, place, text: "▸" + position.text + (isNew && before ? " of " + shortened(position.epoch, 9) : "") });
          }));
          const groups = gathered(changes, limits.cursors, item => item.lane, item => xOf(item.place));
          for (const group of groups) {
            const { lane, place, text } = group[group.length - 1];
            const x = xOf(place);
            const y = laneBoxes[lane].line;
            layers.marks.append(shape("line", { x1: pixel(x), x2: pixel(x), y1: y, y2: y + 7, class: "cursor-tick", "data-lane": lane }));
            if (!label(layers.labels, x + 2, y + 16, text, "mono cursor")) hiddenLabels += 1;
          }
        }

        function drawViolation() {
          if (!breach) return;
          const place = placeOf(breach.time);
          const x = xOf(place);
          if (!isVisible(place, place)) {
            drawAway(place < state.from);
            return;
          }
          const y = laneBoxes[breach.lane].line;
          const text = "✖ rule " + shortened(breach.rule, 40) + " – " + shortened(lanes[breach.lane].name, 20);
          const width = widthOf(text, "violation-text") + 16;
          const left = Math.max(gutter, Math.min(x - 12, view.width - width - 4));
          layers.violation.append(
            shape("line", { x1: pixel(x), x2: pixel(x), y1: axisTop + 4, y2: axisBottom - 4, class: "violation-line" }),
            shape("rect", { x: pixel(left), y: axisTop + 5, width: pixel(width), height: 20, rx: 4, class: "violation-flag" }),
            shape("text", { x: pixel(left + 8), y: axisTop + 19, class: "violation-text" }, text),
            shape("circle", { cx: pixel(x), cy: y, r: 10, class: "violation-ring", id: "violation" }),
            shape("path", { d: `M${pixel(x - 4)} ${y - 4}l8 8m0 -8l-8 8`, class: "violation-cross" }));
          targets.push({ kind: "breach", indexes: [0], left: x - 11, right: x + 11, top: y - 11, bottom: y + 11 });
          targets.push({ kind: "breach", indexes: [0], left, right: left + width, top: axisTop + 5, bottom: axisTop + 25 });
          take(x - 12, x + 12, y - 12, y + 12);
        }
        // The violation lies outside the window: say on which side.
        function drawAway(isBefore) {
          const text = isBefore ? "◀ violation (f)" : "violation (f) ▶";
          const left = isBefore ? gutter + 2 : view.width - 112;
          layers.away.append(
            shape("rect", { x: left, y: axisTop + 5, width: 108, height: 20, rx: 4, class: "violation-flag" }),
            shape("text", { x: left + 8, y: axisTop + 19, class: "violation-text" }, text));
          targets.push({ kind: "breach", indexes: [0], left, right: left + 108, top: axisTop + 5, bottom: axisTop + 25 });
        }

        function drawNow() {
          const x = xOfTime(moments[state.moment]);
          layers.now.replaceChildren();
          if (x < gutter - 1 || x > view.width + 1) return;
          layers.now.append(
            shape("line", { x1: pixel(x), x2: pixel(x), y1: axisTop, y2: axisBottom - 4, class: "now-line", id: "now-line" }),
            shape("path", { d: `M${pixel(x - 6)} ${axisTop - 8}h12l-6 9Z`, class: "now-handle" }));
        }

        function drawHovered() {
          layers.hovered.replaceChildren();
          const wanted = state.hover ?? state.pinned;
          // Places change from frame to frame; what they belong to does not.
          const target = wanted && targets.find(other => other.kind === wanted.kind && other.indexes.includes(wanted.indexes[0]));
          if (!target) return;
          if (target.kind === "message") {
            const d = `M${pixel(target.x1)} ${target.y1}L${pixel(target.x2)} ${pixel(target.y2)}`;
            layers.hovered.append(shape("path", { d, class: "hover" }));
          } else {
            const width = pixel(target.right - target.left + 4);
            const height = target.bottom - target.top + 4;
            layers.hovered.append(shape("rect", { x: pixel(target.left - 2), y: target.top - 2, width, height, rx: 3, class: "hover" }));
          }
        }
        """#
}
