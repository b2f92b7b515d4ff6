const tip = byId("tip");
const rank = { violation: 0, mark: 1, write: 2, message: 3, fault: 4 };
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
    const deliveries = { arrived: "arrived", lost: "lost on its way", ignored: "arrived when nobody waited for it any more",
      refused: "not sent", intercepted: "ended on its way", underWay: "under way when the run ended" };
    const more = [["came of it", item.outcome], ["position", item.cursor]].filter(([, text]) => text);
    return { title: item.label, time: item.sent, pairs: [["from", lanes[item.from].name], ["to", lanes[item.to].name],
      ["delivery", deliveries[item.delivery]], ["sent", timeText(item.sent)], ["ended", timeText(item.ended)],
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
  return { title: "Violation of rule " + violation.rule, time: violation.time, pairs: [["by", lanes[violation.lane].name],
    ["time", timeText(violation.time)], ["seen", violation.text]] };
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
// Light or dark as the reader's system says, until the button is pressed.
const darkness = matchMedia("(prefers-color-scheme: dark)");
let theme = null;
function showTheme() {
  const isDark = theme === null ? darkness.matches : theme === "dark";
  document.documentElement.style.colorScheme = theme ?? "";
  byId("theme").textContent = isDark ? "☀ Light" : "☾ Dark";
  byId("theme").setAttribute("aria-label", isDark ? "Light colours" : "Dark colours");
  return isDark;
}
byId("theme").addEventListener("click", () => {
  theme = showTheme() ? "light" : "dark";
  showTheme();
});
darkness.addEventListener("change", showTheme);
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
  if (violation) {
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
  const lost = messages.filter(item => item.delivery === "lost").length;
  const ignored = messages.filter(item => item.delivery === "ignored").length;
  const stopped = messages.filter(item => item.delivery === "refused" || item.delivery === "intercepted").length;
  const deliveries = [[lost, "lost"], [stopped, "refused or intercepted"], [ignored, "ignored"]].filter(([count]) => count > 0)
    .map(([count, word]) => count.toLocaleString("en") + " " + word);
  const parts = [counted(Math.max(0, lanes.length - 1), "device"), counted(messages.length, "message"),
    counted(writes.length, "write"), counted(faults.length, "fault"), durationText(data.end) + " of virtual time"];
  if (deliveries.length > 0) parts[1] += " (" + deliveries.join(", ") + ")";
  byId("summary").textContent = parts.join(" · ");
  byId("command").textContent = data.command;
  byId("again").hidden = data.command === "";
  byId("scenario").textContent = data.scenario;
  byId("scenario-box").hidden = data.scenario === "";
  const verdict = byId("verdict");
  if (violation) {
    const show = tag("button", { type: "button", id: "show" }, "Show it (f)");
    show.addEventListener("click", goToIncident);
    verdict.className = "broken";
    verdict.append(tag("h2", {}, "✖ Rule broken: " + violation.rule),
      tag("span", {}, "by ", tag("strong", {}, lanes[violation.lane].name), " at " + timeText(violation.time)), show,
      tag("p", {}, violation.text));
  } else {
    verdict.className = "held";
    verdict.append(tag("h2", {}, "✓ No rule was broken"));
  }
  byId("jump").hidden = byId("jump-key").hidden = incident === null;
  byId("jump").textContent = violation ? "Violation" : "First fault";
  byId("jump").title = violation ? "Go to the violation (f)" : "Go to the first fault (f)";
  byId("jump-word").textContent = violation ? "violation" : "first fault";
  byId("idle-box").hidden = idleMessages === 0;
  byId("idle-note").textContent = "Polls that brought nothing (" + counted(idleMessages, "message") + ")";
  byId("events-title").textContent = violation ? "What led to it" : "What happened";
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
  for (const delivery in messageWords) {
    if (!messages.some(item => item.delivery === delivery)) continue;
    const d = delivery === "arrived" || delivery === "ignored" ? "M1 8H32" : "M1 8H24";
    add(sample(shape("path", { d, class: "message " + delivery })), messageWords[delivery]);
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
  if (violation) {
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
