// A message that never arrived ends on its way.
const reach = { arrived: 1, ignored: 1, lost: 0.62, intercepted: 0.5, underWay: 0.75 };
// A refused message stays at its sender's line.
const refusedLength = 18;
// The last message that reached the lane of the violation before the violation: the response after which it broke the rule.
const suspect = violation ? messages.reduce((best, item, index) => {
  const isBefore = item.to === violation.lane && !item.isIdle && item.delivery === "arrived" && item.ended <= violation.time;
  return isBefore && (best < 0 || item.ended >= messages[best].ended) ? index : best;
}, -1) : -1;
// Only messages of one kind can be drawn as one.
const messageKinds = messages.map((item, index) => [item.from, item.to, item.delivery, index === suspect].join(" "));
function drawMessages() {
  const visible = [];
  for (let index = 0; index < messages.length; index += 1) {
    const { from, to } = messages[index];
    if (!isShown(messages[index]) || state.lane >= 0 && from !== state.lane && to !== state.lane) continue;
    if (places.ended[index] >= state.from && places.sent[index] <= state.to) visible.push(index);
  }
  const hasArrived = index => messages[index].delivery === "arrived";
  const spotted = (indexes, limit) =>
    gathered(indexes, limit, index => messageKinds[index], index => xOf(places.sent[index]), index => xOf(places.ended[index]));
  const groups = [...spotted(visible.filter(hasArrived), limits.arrived),
    ...spotted(visible.filter(index => !hasArrived(index)), limits.troubled)];
  layers.messages.setAttribute("class", groups.length > 150 ? "crowded" : "");
  byId("crowd-note").textContent = groups.length === visible.length ? ""
    : "· " + counted(visible.length, "message") + " drawn as " + counted(groups.length, "arrow") + ": zoom in";
  const drawn = groups.map(group => {
    const item = messages[group[0]];
    const line = { kind: "message", indexes: group, delivery: item.delivery };
    line.x1 = xOf(places.sent[group[0]]);
    line.y1 = laneBoxes[item.from].line;
    line.x2 = xOf(places.ended[group[0]]);
    const height = laneBoxes[item.to].line - line.y1;
    line.y2 = line.y1 + (item.delivery === "refused" ? Math.sign(height) * refusedLength : height * reach[item.delivery]);
    return line;
  });
  // The troubled ones lie on top and name themselves first.
  const weight = line => line.indexes[0] === suspect ? 2 : line.delivery === "arrived" ? 0 : 1;
  drawn.sort((one, other) => weight(one) - weight(other));
  for (const line of drawn) {
    const d = `M${pixel(line.x1)} ${line.y1}L${pixel(line.x2)} ${pixel(line.y2)}`;
    const className = "message " + line.delivery + (line.indexes[0] === suspect ? " suspect" : "");
    layers.messages.append(shape("path", { d, class: className, "data-index": line.indexes[0] }));
    targets.push(line);
  }
  for (const { delivery, x2, y2 } of drawn) {
    if (["lost", "intercepted", "refused"].includes(delivery)) take(x2 - 6, x2 + 6, y2 - 6, y2 + 6);
  }
  // In a crowd only the troubled ones.
  for (const line of drawn.reverse()) {
    if (drawn.length > 120 && weight(line) === 0 || !labelMessage(line)) hiddenLabels += 1;
  }
}
// A label lies beside its arrow, where there is room for it.
function labelMessage(line) {
  const item = messages[line.indexes[0]];
  const reason = item.delivery === "arrived" ? "" : item.outcome;
  const texts = [line.indexes.length > 1 ? line.indexes.length + " messages" : (reason ? reason + ": " : "") + item.label];
  // Where there is no room for more, why it was stopped.
  if (reason) texts.push(reason);
  const down = line.y2 > line.y1;
  const className = "message-label " + line.delivery + (line.indexes[0] === suspect ? " suspect" : "");
  for (const text of texts) {
    for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]) {
      const x = line.x1 + (line.x2 - line.x1) * share + (item.delivery === "refused" ? 10 : 6);
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
  if (!violation) return;
  const place = placeOf(violation.time);
  const x = xOf(place);
  if (!isVisible(place, place)) {
    drawAway(place < state.from);
    return;
  }
  const y = laneBoxes[violation.lane].line;
  const text = "✖ rule " + shortened(violation.rule, 40) + " – " + shortened(lanes[violation.lane].name, 20);
  const width = widthOf(text, "violation-text") + 16;
  const left = Math.max(gutter, Math.min(x - 12, view.width - width - 4));
  layers.violation.append(
    shape("line", { x1: pixel(x), x2: pixel(x), y1: axisTop + 4, y2: axisBottom - 4, class: "violation-line" }),
    shape("rect", { x: pixel(left), y: axisTop + 5, width: pixel(width), height: 20, rx: 4, class: "violation-flag" }),
    shape("text", { x: pixel(left + 8), y: axisTop + 19, class: "violation-text" }, text),
    shape("circle", { cx: pixel(x), cy: y, r: 10, class: "violation-ring", id: "violation" }),
    shape("path", { d: `M${pixel(x - 4)} ${y - 4}l8 8m0 -8l-8 8`, class: "violation-cross" }));
  targets.push({ kind: "violation", indexes: [0], left: x - 11, right: x + 11, top: y - 11, bottom: y + 11 });
  targets.push({ kind: "violation", indexes: [0], left, right: left + width, top: axisTop + 5, bottom: axisTop + 25 });
  take(x - 12, x + 12, y - 12, y + 12);
}
// The violation lies outside the window: say on which side.
function drawAway(isBefore) {
  const text = isBefore ? "◀ violation (f)" : "violation (f) ▶";
  const left = isBefore ? gutter + 2 : view.width - 112;
  layers.away.append(
    shape("rect", { x: left, y: axisTop + 5, width: 108, height: 20, rx: 4, class: "violation-flag" }),
    shape("text", { x: left + 8, y: axisTop + 19, class: "violation-text" }, text));
  targets.push({ kind: "violation", indexes: [0], left, right: left + 108, top: axisTop + 5, bottom: axisTop + 25 });
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
const overview = byId("overview");
const overviewHeight = 46;
const overviewX = place => gutter + (scale.length === 0 ? 0 : place / scale.length) * view.plot;
const overviewFrame = shape("rect", { y: 1, height: overviewHeight - 3, rx: 3, class: "frame", id: "frame" });
const overviewNow = shape("line", { y1: 0, y2: overviewHeight, class: "now-line" });
function drawOverview() {
  const bins = new Array(Math.max(1, Math.min(400, Math.round(view.plot / 4)))).fill(0);
  for (const place of places.events) {
    const bin = scale.length === 0 ? 0 : Math.floor(place / scale.length * bins.length);
    bins[Math.min(bins.length - 1, Math.max(0, bin))] += 1;
  }
  const most = Math.max(1, ...bins);
  const step = view.plot / bins.length;
  const base = overviewHeight - 4;
  // The square root, so that a lonely event still shows beside a storm.
  const bars = bins.map((count, index) => {
    if (count === 0) return "";
    const height = pixel(3 + 30 * Math.sqrt(count / most));
    return `M${pixel(gutter + index * step)} ${base}v${-height}h${pixel(Math.max(1, step - 0.5))}v${height}Z`;
  }).join("");
  const spans = [];
  for (const [from, to] of [...places.faults].sort((one, other) => one[0] - other[0])) {
    const left = overviewX(from);
    const right = Math.max(left + 2, overviewX(to));
    const last = spans[spans.length - 1];
    if (last && left <= last.right + 1) last.right = Math.max(last.right, right); else spans.push({ left, right });
  }
  const bands = spans.map(({ left, right }) =>
    shape("rect", { x: pixel(left), y: 4, width: pixel(right - left), height: overviewHeight - 8, class: "fault" }));
  overview.replaceChildren(
    shape("text", { x: 12, y: 20 }, "The whole run"), shape("text", { x: 12, y: 35, class: "quiet" }, durationText(runEnd)),
    ...bands, shape("path", { d: bars, class: "density" }), overviewNow, overviewFrame);
  if (violation) {
    const x = pixel(overviewX(placeOf(violation.time)));
    overview.append(
      shape("line", { x1: x, x2: x, y1: 2, y2: overviewHeight - 2, class: "violation-line" }),
      shape("path", { d: `M${x - 6} 1h12l-6 9Z`, class: "violation-flag" }));
  }
}
function drawFrame() {
  const left = Math.max(gutter, overviewX(state.from));
  overviewFrame.setAttribute("x", pixel(left));
  overviewFrame.setAttribute("width", pixel(Math.max(3, Math.min(view.width - 2, overviewX(state.to)) - left)));
  const x = pixel(overviewX(placeOf(moments[state.moment])));
  overviewNow.setAttribute("x1", x);
  overviewNow.setAttribute("x2", x);
}
function overviewDrag(event) {
  const place = (event.clientX - overview.getBoundingClientRect().left - gutter) / view.plot * scale.length;
  const half = (state.to - state.from) / 2;
  setWindow(place - half, place + half);
}
overview.addEventListener("pointerdown", event => {
  overview.setPointerCapture(event.pointerId);
  overviewDrag(event);
});
overview.addEventListener("pointermove", event => { if (event.buttons & 1) overviewDrag(event); });
