extension Page {
    /// Messages: one path each, from the line of one lane to that of another.
    static let messageScript = #"""
        // A message that never arrived ends on its way.
        const reach = { arrived: 1, ignored: 1, lost: 0.62, intercepted: 0.5, underWay: 0.75 };
        // A refused message stays at its sender's line.
        const refusedLength = 18;
        // The last message that reached the lane of the violation before the violation: the response after which it broke the rule.
        const suspect = breach ? messages.reduce((best, item, index) => {
          const isBefore = item.to === breach.lane && !item.isIdle && item.fate === "arrived" && item.ended <= breach.time;
          return isBefore && (best < 0 || item.ended >= messages[best].ended) ? index : best;
        }, -1) : -1;
        // Only messages of one kind can be drawn as one.
        const messageKinds = messages.map((item, index) => [item.from, item.to, item.fate, index === suspect].join(" "));
        function drawMessages() {
          const visible = [];
          for (let index = 0; index < messages.length; index += 1) {
            const { from, to } = messages[index];
            if (!isShown(messages[index]) || state.lane >= 0 && from !== state.lane && to !== state.lane) continue;
            if (places.ended[index] >= state.from && places.sent[index] <= state.to) visible.push(index);
          }
          const hasArrived = index => messages[index].fate === "arrived";
          const spotted = (indexes, limit) =>
            gathered(indexes, limit, index => messageKinds[index], index => xOf(places.sent[index]), index => xOf(places.ended[index]));
          const groups = [...spotted(visible.filter(hasArrived), limits.arrived),
            ...spotted(visible.filter(index => !hasArrived(index)), limits.troubled)];
          layers.messages.setAttribute("class", groups.length > 150 ? "crowded" : "");
          byId("crowd-note").textContent = groups.length === visible.length ? ""
            : "· " + counted(visible.length, "message") + " drawn as " + counted(groups.length, "arrow") + ": zoom in";
          const drawn = groups.map(group => {
            const item = messages[group[0]];
            const line = { kind: "message", indexes: group, fate: item.fate };
            line.x1 = xOf(places.sent[group[0]]);
            line.y1 = laneBoxes[item.from].line;
            line.x2 = xOf(places.ended[group[0]]);
            const height = laneBoxes[item.to].line - line.y1;
            line.y2 = line.y1 + (item.fate === "refused" ? Math.sign(height) * refusedLength : height * reach[item.fate]);
            return line;
          });
          // The troubled ones lie on top and name themselves first.
          const weight = line => line.indexes[0] === suspect ? 2 : line.fate === "arrived" ? 0 : 1;
          drawn.sort((one, other) => weight(one) - weight(other));
          for (const line of drawn) {
            const d = `M${pixel(line.x1)} ${line.y1}L${pixel(line.x2)} ${pixel(line.y2)}`;
            const className = "message " + line.fate + (line.indexes[0] === suspect ? " suspect" : "");
            layers.messages.append(shape("path", { d, class: className, "data-index": line.indexes[0] }));
            targets.push(line);
          }
          for (const { fate, x2, y2 } of drawn) {
            if (["lost", "intercepted", "refused"].includes(fate)) take(x2 - 6, x2 + 6, y2 - 6, y2 + 6);
          }
          // In a crowd only the troubled ones.
          for (const line of drawn.reverse()) {
            if (drawn.length > 120 && weight(line) === 0 || !labelMessage(line)) hiddenLabels += 1;
          }
        }
        // A label lies beside its arrow, where there is room for it.
        function labelMessage(line) {
          const item = messages[line.indexes[0]];
          const reason = item.fate === "arrived" ? "" : item.outcome;
          const texts = [line.indexes.length > 1 ? line.indexes.length + " messages" : (reason ? reason + ": " : "") + item.label];
          // Where there is no room for more, why it was stopped.
          if (reason) texts.push(reason);
          const down = line.y2 > line.y1;
          const className = "message-label " + line.fate + (line.indexes[0] === suspect ? " suspect" : "");
          for (const text of texts) {
            for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]) {
              const x = line.x1 + (line.x2 - line.x1) * share + (item.fate === "refused" ? 10 : 6);
              const y = line.y1 + (line.y2 - line.y1) * share + (down ? -1 : 8);
              if (isOccupied(y)) continue;
              if (label(layers.labels, x, y, text, className, 38)) return true;
            }
          }
          return false;
        }
        // Where a lane's own line or the bars of its writes are.
        const isOccupied = y => laneBoxes.some((box, lane) => {
          const isOverLine = y > box.line - 2 && y - 9 < box.line + 2;
          return isOverLine || rowsOfLane[lane] > 0 && y > box.bars - 2 && y - 10 < box.bars + rowsOfLane[lane] * rowHeight;
        });
        """#
}
