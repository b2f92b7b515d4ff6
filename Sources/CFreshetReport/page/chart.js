const chart = byId("chart");
const gutter = 190;
const axisTop = 24;
const lanesTop = violation ? 56 : 30;
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
function drawLanes() {
  layers.bands.replaceChildren();
  layers.gutter.replaceChildren();
  layers.gutter.append(shape("rect", { x: 0, y: 0, width: gutter, height: chartHeight, class: "gutter" }));
  layers.gutter.append(shape("text", { x: 12, y: 13, class: "quiet" }, "virtual time"));
  for (const [index, lane] of lanes.entries()) {
    const box = laneBoxes[index];
    const isBroken = violation?.lane === index;
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
