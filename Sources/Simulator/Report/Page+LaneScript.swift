extension Page {
    /// The lanes themselves and what lies in one lane: faults and the bars of writes.
    static let laneScript = #"""
        function drawLanes() {
          layers.bands.replaceChildren();
          layers.gutter.replaceChildren();
          layers.gutter.append(shape("rect", { x: 0, y: 0, width: gutter, height: chartHeight, class: "gutter" }));
          layers.gutter.append(shape("text", { x: 12, y: 13, class: "quiet" }, "virtual time"));
          for (const [index, lane] of lanes.entries()) {
            const box = laneBoxes[index];
            const isBroken = breach?.lane === index;
            const kind = "lane-band" + (index % 2 ? " odd" : "");
            layers.bands.append(shape("rect", { x: 0, y: box.top, width: view.width, height: box.height, class: kind }));
            layers.bands.append(shape("line", { x1: gutter, x2: view.width, y1: box.line, y2: box.line, class: "lifeline" }));
            const group = shape("g", { class: isBroken ? "lane broken" : "lane", "data-lane": index });
            if (index > 0) {
              group.append(shape("title", {}, "Click to show only the messages of " + lane.name));
              group.addEventListener("click", () => chooseLane(state.lane === index ? -1 : index));
            }
            group.append(shape("rect", { x: 0, y: box.top, width: gutter, height: box.height, class: kind }));
            if (isBroken) group.append(shape("rect", { x: 0, y: box.top, width: 5, height: box.height, class: "lane-edge" }));
            const y = Math.max(box.top + 18, Math.min(box.line + 4, box.top + box.height - 34));
            group.append(shape("text", { x: 12, y, class: "lane-name" }, shortened(lane.name, 20)));
            const notes = wrapped(lane.detail, 28, isBroken ? 1 : 2);
            if (isBroken) notes.unshift("✖ broke the rule");
            notes.forEach((note, row) => {
              const className = isBroken && row === 0 ? "lane-note" : "lane-detail quiet";
              group.append(shape("text", { x: 12, y: y + 15 + 13 * row, class: className }, note));
            });
            layers.gutter.append(group);
            // The rule between two lanes: under the drawing, over the lanes' names.
            layers.bands.append(shape("line", { x1: gutter, x2: view.width, y1: box.top, y2: box.top, class: "rule" }));
            layers.gutter.append(shape("line", { x1: 0, x2: gutter, y1: box.top, y2: box.top, class: "rule" }));
          }
          layers.gutter.append(shape("line", { x1: gutter, x2: gutter, y1: axisTop + 4, y2: axisBottom, class: "rule" }));
          layers.gutter.append(shape("line", { x1: 0, x2: gutter, y1: axisBottom - 4, y2: axisBottom - 4, class: "rule" }));
        }
        function wrapped(text, length, rows) {
          const lines = [];
          let line = "";
          for (const word of text.split(/\s+/).filter(Boolean)) {
            if (line && (line + " " + word).length > length) {
              lines.push(line);
              line = word;
            } else line = line ? line + " " + word : word;
          }
          if (line) lines.push(line);
          if (lines.length > rows) lines.splice(rows - 1, lines.length, lines.slice(rows - 1).join(" "));
          return lines.map(line => shortened(line, length));
        }

        function drawFaults() {
          const visible = faults.map((_, index) => index).filter(index => isVisible(...places.faults[index]));
          const kindOf = index => faults[index].lanes + " " + faults[index].label;
          const bound = side => index => xOf(places.faults[index][side]);
          const groups = gathered(visible, limits.faults, kindOf, bound(0), bound(1));
          const strips = [];
          const beside = [];
          for (const group of groups) {
            const fault = faults[group[0]];
            const left = Math.max(gutter - 6, xOf(places.faults[group[0]][0]));
            const isInstant = fault.to === fault.from;
            const right = Math.min(view.width + 6, xOf(places.faults[group[0]][1]));
            const width = Math.max(3, right - left);
            for (const lane of fault.lanes) {
              const box = laneBoxes[lane];
              const top = box.top + 3 + fault.rows[lane] * faultHeight;
              const bottom = top + faultHeight - 2;
              // A tint over the lane, and a strip that carries the label.
              layers.faults.append(
                shape("path", { d: `M${pixel(left)} ${bottom}h${pixel(isInstant ? 1 : width)}V${box.top + box.height - 1}H${pixel(left)}Z`,
                  class: isInstant ? "fault-region instant" : "fault-region" }),
                shape("rect", { x: pixel(left), y: top, width: pixel(width), height: faultHeight - 2, rx: isInstant ? 0 : 2,
                  class: isInstant ? "fault instant" : "fault", "data-index": group[0], "data-lane": lane }));
              targets.push({ kind: "fault", indexes: group, left, right: left + width, top, bottom });
              const text = group.length === 1 ? fault.label : fault.label + " ×" + group.length;
              const begin = Math.max(left, gutter) + 4;
              const room = right - begin - 4;
              strips.push([left, left + width, top, bottom]);
              if (room < Math.min(60, widthOf(text, "fault-label"))) beside.push({ text, right: left + width, top });
              else if (!label(layers.labels, begin, top + 10.5, fitted(text, "fault-label", room), "fault-label", 200, Infinity)) {
                hiddenLabels += 1;
              }
            }
          }
          // Labels beside short strips come last: no later label covers a strip.
          for (const strip of strips) take(...strip);
          for (const { text, right, top } of beside) {
            if (!label(layers.labels, right + 3, top + 10.5, "⚡ " + text, "fault-label", 30)) hiddenLabels += 1;
          }
        }

        const signs = {
          confirmed: "M-4 0L-1 3L4 -3.5", rolledBack: "M4 3.5C4 -1.5 0 -1.5 -4 -1.5M-1 -4.5L-4 -1.5L-1 1.5", cleared: "M-4 0H4",
          rejected: "M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5", acknowledged: "M-4 0L-1 3L4 -3.5", pending: "M-4 0h.1M0 0h.1M4 0h.1",
        };
        const capWidth = 15;
        function drawWrites() {
          const pieces = [];
          writes.forEach((write, index) => write.pieces.forEach((piece, number) => {
            const [from, to] = places.writes[index][number];
            const end = piece.isCap ? to + capWidth / view.perUnit : to;
            if (isVisible(from, end)) pieces.push({ write, index, piece, from, to });
          }));
          const kindOf = item => item.write.lane + " " + item.write.row + " " + item.piece.stage;
          const groups = gathered(pieces, limits.pieces, kindOf, item => xOf(item.from), item => xOf(item.to));
          const beside = [];
          for (const group of groups) {
            const { write, index, piece, from, to } = group[0];
            const left = Math.max(gutter - 4, xOf(from));
            const right = piece.isCap ? xOf(from) + capWidth : Math.min(view.width + 4, xOf(to));
            const width = Math.max(2, right - left);
            const top = laneBoxes[write.lane].bars + write.row * rowHeight;
            const isDim = state.key !== null && !group.some(item => item.write.key === state.key);
            layers.writes.append(shape("rect", { x: pixel(left), y: top, width: pixel(width), height: rowHeight - 3, rx: 2,
              class: "write " + piece.stage + (isDim ? " dim" : ""), "data-index": index, "data-lane": write.lane }));
            const indexes = [...new Set(group.map(item => item.index))];
            targets.push({ kind: "write", indexes, left, right: left + width, top, bottom: top + rowHeight - 3 });
            if (width >= 13 && (piece.isCap || piece.stage === "rejected")) {
              const x = pixel(piece.isCap ? left + width / 2 : left + 8);
              layers.writes.append(shape("path", { d: signs[piece.stage], class: "write-sign", transform: `translate(${x} ${top + 8})` }));
            }
            if (group.length === 1 && piece === write.pieces[0]) labelInBar(write, places.writes[index], left, top, isDim, beside);
          }
          for (const target of targets) if (target.kind === "write") take(target.left, target.right, target.top, target.bottom);
          for (const { x, y, text, className } of beside) {
            if (!label(layers.labels, x, y, text, className, 26)) hiddenLabels += 1;
          }
        }
        // In the bar, up to the first sign in it; later beside the bar, where that is too short.
        function labelInBar(write, pieces, left, top, isDim, beside) {
          const text = write.key + " " + write.label;
          const last = write.pieces.length - 1;
          const sign = write.pieces.findIndex(piece => piece.isCap || piece.stage === "rejected");
          const end = Math.min(view.width, sign < 0 ? xOf(pieces[last][1]) : xOf(pieces[sign][0]));
          const begin = Math.max(left, gutter) + 4;
          const room = end - begin - 4;
          const className = "write-label" + (isDim ? " dim" : "");
          if (room >= Math.min(75, widthOf(text, className))) {
            if (!label(layers.labels, begin, top + 12, fitted(text, className, room), className, 200, Infinity)) hiddenLabels += 1;
          } else {
            const after = xOf(pieces[last][1]) + (write.pieces[last].isCap ? capWidth : 0);
            beside.push({ x: after + 4, y: top + 12, text, className: "quiet write-beside" + (isDim ? " dim" : "") });
          }
        }
        """#
}
