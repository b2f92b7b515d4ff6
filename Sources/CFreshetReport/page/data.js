const data = JSON.parse(document.getElementById("timeline").textContent);
const byId = id => document.getElementById(id);
const lanes = data.lanes;
const isLane = index => index >= 0 && index < lanes.length;
const messages = data.messages.filter(item => isLane(item.from) && isLane(item.to));
const writes = data.writes.filter(item => isLane(item.lane) && item.steps.length > 0);
const faults = data.faults.map(item => ({ ...item, lanes: item.lanes.filter(isLane) })).filter(item => item.lanes.length > 0);
const marks = data.marks.filter(item => isLane(item.lane));
const holdings = data.holdings.filter(item => isLane(item.lane));
const violation = data.violation && isLane(data.violation.lane) ? data.violation : null;
const lastStages = new Set(["confirmed", "rolledBack", "cleared"]);
const stageWords = { pending: "pending", acknowledged: "acknowledged", confirmed: "confirmed", rejected: "rejected",
  rolledBack: "rolled back", cleared: "cleared" };

// What the reader sees now; every change goes through change().
const state = { moment: 0, from: 0, to: 1, trueScale: false, key: null, pinned: null, hover: null, showsIdle: false, lane: -1 };
// Polls that brought nothing are hidden unless the reader asks for them.
const isShown = message => state.showsIdle || !message.isIdle;
const idleMessages = messages.filter(item => item.isIdle).length;

// The times at which anything happens that is shown, each once, in order.
function findMoments() {
  const times = [0, data.end];
  for (const item of messages) if (isShown(item)) times.push(item.sent, item.ended);
  for (const item of writes) for (const step of item.steps) times.push(step.time);
  for (const item of faults) times.push(item.from, item.to);
  for (const item of marks) times.push(item.time);
  for (const item of holdings) times.push(item.time);
  if (violation) times.push(violation.time);
  const sorted = Float64Array.from(times).sort();
  return sorted.filter((time, index) => index === 0 || time !== sorted[index - 1]);
}
let moments = findMoments();
const runEnd = messages.reduce((end, item) => Math.max(end, item.ended), moments[moments.length - 1]);

// The index of the last element whose time is not after `time`; -1 where there is none.
function lastUpTo(list, time, timeOf) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(list[middle]) <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}
const identity = value => value;
function momentNearest(time) {
  const before = Math.max(0, lastUpTo(moments, time, identity));
  const after = Math.min(moments.length - 1, before + 1);
  return moments[after] - time < time - moments[before] ? after : before;
}

// A write as pieces of a bar. A stage that can be followed by another lasts to the next or to the run's end; a last one is a cap.
for (const write of writes) {
  write.pieces = write.steps.map((step, index) => {
    const next = write.steps[index + 1];
    const isCap = !next && lastStages.has(step.stage);
    return { stage: step.stage, from: step.time, to: next ? next.time : isCap ? step.time : runEnd, isCap };
  });
  write.from = write.steps[0].time;
  write.to = write.pieces[write.pieces.length - 1].to;
}

// Bars of one lane that overlap in time lie in different rows; beyond the limit they share the last. Many lanes get fewer rows each,
// so that they fit on a screen.
const rowLimits = lanes.length <= 5 ? { writes: 8, faults: 3 } : { writes: 4, faults: 2 };
const rowsOfLane = lanes.map((_, lane) => {
  const ends = [];
  for (const write of writes.filter(item => item.lane === lane).sort((one, other) => one.from - other.from)) {
    let row = ends.findIndex(end => end < write.from);
    if (row < 0) row = Math.min(ends.length, rowLimits.writes - 1);
    write.row = row;
    ends[row] = Math.max(ends[row] ?? 0, write.to);
  }
  return ends.length;
});

// Faults of one lane that overlap in time lie in different rows too.
const faultRows = lanes.map((_, lane) => {
  const ends = [];
  for (const fault of faults.filter(item => item.lanes.includes(lane)).sort((one, other) => one.from - other.from)) {
    let row = ends.findIndex(end => end < fault.from);
    if (row < 0) row = Math.min(ends.length, rowLimits.faults - 1);
    (fault.rows ??= {})[lane] = row;
    ends[row] = Math.max(ends[row] ?? 0, fault.to);
  }
  return ends.length;
});

// For each lane, what it held for each key, in order of time. The empty key is the cursor.
const heldBy = lanes.map(() => new Map());
for (const holding of holdings) {
  const list = heldBy[holding.lane].get(holding.key);
  if (list) list.push(holding); else heldBy[holding.lane].set(holding.key, [holding]);
}
function holdingAt(lane, key, time) {
  const list = heldBy[lane].get(key);
  if (!list) return null;
  return list[lastUpTo(list, time, item => item.time)] ?? null;
}
// A cursor in short: `@7` of `epoch-7`.
function positionOf(cursor) {
  const [, epoch, revision] = /^([^-]+)-(\d+)(?:-\d+)?$/.exec(cursor ?? "") ?? [];
  return epoch === undefined ? { epoch: null, text: cursor ?? "none" } : { epoch, text: "@" + revision };
}
const isNamedByViolation = key => {
  if (!violation || key === "") return false;
  const text = violation.text + " " + violation.rule;
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
    const isWord = /[\w-]/;
    if (!isWord.test(text[at - 1] ?? " ") && !isWord.test(text[at + key.length] ?? " ")) return true;
  }
  return false;
};
// Those that the violation names come first.
const keys = [...new Set(holdings.map(item => item.key).filter(key => key !== ""))]
  .sort((one, other) => isNamedByViolation(other) - isNamedByViolation(one) || one.localeCompare(other, "en", { numeric: true }));

// Everything that happened, one line each.
function findEvents() {
  const list = [];
  const add = (time, order, lanes, kind, text) => list.push({ time, order, lanes, kind, text });
  const name = lane => lanes[lane].name;
  for (const item of faults) {
    add(item.from, 0, item.lanes, "fault", item.to > item.from ? item.label + " begins" : item.label);
    if (item.to > item.from) add(item.to, 0, item.lanes, "fault", item.label + " ends");
  }
  const because = item => item.outcome ? " (" + item.outcome + ")" : "";
  for (const item of messages) {
    if (!isShown(item)) continue;
    if (item.delivery === "refused") {
      add(item.ended, 1, [item.from, item.to], "lost", "✕ not sent to " + name(item.to) + because(item) + ": " + item.label);
      continue;
    }
    add(item.sent, 4, [item.from, item.to], "sent", "→ " + name(item.to) + ": " + item.label);
    if (item.delivery === "arrived") {
      add(item.ended, 1, [item.to, item.from], "arrived", "← " + name(item.from) + ": " + item.label + because(item));
    }
    if (item.delivery === "lost" || item.delivery === "intercepted") {
      const word = item.delivery === "lost" ? "lost" : "intercepted";
      add(item.ended, 1, [item.from, item.to], "lost",
        "✕ " + word + " on its way to " + name(item.to) + because(item) + ": " + item.label);
    }
    if (item.delivery === "ignored") {
      add(item.ended, 1, [item.to, item.from], "ignored", "ignored, from " + name(item.from) + ": " + item.label);
    }
  }
  for (const item of writes) {
    const what = item.key + " " + item.label;
    for (const step of item.steps) add(step.time, 2, [item.lane], "write", stageWords[step.stage] + ": " + what);
  }
  for (const item of marks) add(item.time, 3, [item.lane], "mark", item.label);
  if (violation) add(violation.time, 5, [violation.lane], "violation", "breaks rule " + violation.rule);
  return list.sort((one, other) => one.time - other.time || one.order - other.order);
}
let events = findEvents();
// What the page opens at, and where `f` leads: the violation, or else the first fault.
const incident = violation ? violation.time : faults.length === 0 ? null
  : faults.reduce((first, item) => Math.min(first, item.from), Infinity);
const twoDigits = number => String(number).padStart(2, "0");
// A time of the run, as exact as `step` (ms) asks: with days only where the run has them.
function timeText(time, step = 1) {
  const sign = time < 0 ? "−" : "";
  const whole = Math.abs(Math.round(time));
  const fraction = step < 1000 ? "." + String(whole % 1000).padStart(3, "0") : "";
  const seconds = Math.floor(whole / 1000);
  if (runEnd < 60000) return sign + seconds + fraction + " s";
  const minutes = twoDigits(Math.floor(seconds / 60) % 60) + ":" + twoDigits(seconds % 60) + fraction;
  if (runEnd < 3600000) return sign + minutes;
  const hours = Math.floor(seconds / 3600);
  if (runEnd < 86400000) return sign + twoDigits(hours) + ":" + minutes;
  return sign + Math.floor(hours / 24) + " d " + twoDigits(hours % 24) + ":" + minutes;
}
// A duration in its two largest units.
function durationText(duration) {
  if (duration < 1000) return Math.round(duration) + " ms";
  if (duration < 10000) return (duration / 1000).toFixed(duration % 1000 === 0 ? 0 : 1) + " s";
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const seconds = Math.round(duration / 1000);
  const first = units.findIndex(unit => seconds >= unit[1]);
  const large = Math.floor(seconds / units[first][1]) + " " + units[first][0];
  const next = units[first + 1];
  const rest = next ? Math.floor((seconds % units[first][1]) / next[1]) : 0;
  return rest > 0 ? large + " " + rest + " " + next[0] : large;
}
function counted(number, one, many) { return number.toLocaleString("en") + " " + (number === 1 ? one : many ?? one + "s"); }
function shortened(text, length) {
  const line = text.replace(/\s+/g, " ");
  return line.length <= length ? line : line.slice(0, Math.max(1, length - 1)) + "…";
}

const space = "http://www.w3.org/2000/svg";
function shape(name, attributes, text) {
  const element = document.createElementNS(space, name);
  for (const attribute in attributes) element.setAttribute(attribute, attributes[attribute]);
  if (text !== undefined) element.textContent = text;
  return element;
}
function tag(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const attribute in attributes) element.setAttribute(attribute, attributes[attribute]);
  element.append(...children);
  return element;
}
const pixel = number => Math.round(number * 10) / 10;
// Gaps in which nothing happens, longer than this, are squeezed: ten times the usual gap.
function findGapLimit() {
  const gaps = [];
  for (let index = 1; index < moments.length; index += 1) gaps.push(moments[index] - moments[index - 1]);
  gaps.sort((one, other) => one - other);
  return gaps.length === 0 ? Infinity : Math.max(10 * gaps[gaps.length >> 1], runEnd / 1e7);
}

// Stretches of time, each with its places. A squeezed one is a little longer the longer its time; all of them together take
// no more than a third of the axis.
function makeScale(isTrue) {
  const stretches = [];
  const gapLimit = findGapLimit();
  const isIdle = gap => !isTrue && gap > 2 * gapLimit;
  const weightOf = gap => 1 + 0.5 * Math.log10(gap / gapLimit);
  let active = 0;
  let weights = 0;
  for (let index = 1; index < moments.length; index += 1) {
    const gap = moments[index] - moments[index - 1];
    if (isIdle(gap)) weights += weightOf(gap); else active += gap;
  }
  const unit = Math.min(gapLimit, active / weights / 2);
  let place = 0;
  let begin = moments[0];
  const add = (from, to, length, isGap) => {
    stretches.push({ from, to, begin: place, end: place + length, isGap });
    place += length;
  };
  for (let index = 1; index < moments.length; index += 1) {
    const gap = moments[index] - moments[index - 1];
    if (!isIdle(gap)) continue;
    if (moments[index - 1] > begin) add(begin, moments[index - 1], moments[index - 1] - begin, false);
    add(moments[index - 1], moments[index], unit * weightOf(gap), true);
    begin = moments[index];
  }
  if (runEnd > begin || stretches.length === 0) add(begin, runEnd, Math.max(1, runEnd - begin), false);
  return { stretches, length: place, gaps: stretches.filter(stretch => stretch.isGap) };
}
let scale = makeScale(false);

function placeOf(time) {
  const stretch = scale.stretches[Math.max(0, lastUpTo(scale.stretches, time, item => item.from))];
  const span = stretch.to - stretch.from;
  return span === 0 ? stretch.begin : stretch.begin + (time - stretch.from) / span * (stretch.end - stretch.begin);
}
function timeAt(place) {
  const stretch = scale.stretches[Math.max(0, lastUpTo(scale.stretches, place, item => item.begin))];
  const share = (place - stretch.begin) / (stretch.end - stretch.begin);
  return stretch.from + Math.min(1, Math.max(0, share)) * (stretch.to - stretch.from);
}

// The places of everything, worked out once for a scale: a frame then only compares numbers.
let places;
function workOutPlaces() {
  places = {
    sent: Float64Array.from(messages, item => placeOf(item.sent)),
    ended: Float64Array.from(messages, item => placeOf(item.ended)),
    writes: writes.map(item => item.pieces.map(piece => [placeOf(piece.from), placeOf(piece.to)])),
    faults: faults.map(item => [placeOf(item.from), placeOf(item.to)]),
    marks: Float64Array.from(marks, item => placeOf(item.time)),
    cursors: heldBy.map(held => (held.get("") ?? []).map(item => placeOf(item.time))),
    events: Float64Array.from(events, item => placeOf(item.time)),
  };
}
workOutPlaces();

const tickSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5,
  108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 12096e5];
// Round times in the window, not closer than `apart` pixels; each knows how exact it is.
function ticksIn(from, to, apart) {
  const ticks = [];
  let free = -Infinity;
  for (const stretch of scale.stretches) {
    if (stretch.isGap || stretch.end < from || stretch.begin > to) continue;
    const perUnit = (stretch.to - stretch.from) / (stretch.end - stretch.begin);
    const step = tickSteps.find(step => step / perUnit * view.perUnit >= apart) ?? tickSteps[tickSteps.length - 1];
    const low = Math.max(stretch.from, timeAt(Math.max(from, stretch.begin)));
    const high = Math.min(stretch.to, timeAt(Math.min(to, stretch.end)));
    let time = Math.ceil(low / step) * step;
    if (time > high && xOf(stretch.begin) >= free && stretch.begin >= from) {
      ticks.push({ time: stretch.from, x: xOf(stretch.begin), step: 1 });
      free = xOf(stretch.begin) + apart;
    }
    for (; time <= high; time += step) {
      const x = xOf(placeOf(time));
      if (x < free) continue;
      ticks.push({ time, x, step });
      free = x + apart;
    }
  }
  return ticks;
}
