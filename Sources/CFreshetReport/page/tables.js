const rowLimit = 80;
const valueLimit = 400;
const stageChips = [["rejected", /\brejected\b/i], ["rolledBack", /\brolled[ -]?back\b/i], ["pending", /\bpending\b/i],
  ["acknowledged", /\backnowledged\b/i], ["stale", /\bstale\b/i]];
const chipWords = { ...stageWords, stale: "stale" };

// What a lane holds, in short: whether it ever did, what, and how it stands to the server's.
function cellAt(lane, key, time) {
  const holding = holdingAt(lane, key, time);
  if (!holding) return { text: "", detail: "", stage: null, differs: false, isFresh: false, isHeld: false };
  const isHeld = holding.value !== undefined;
  const server = holdingAt(0, key, time);
  const stage = stageChips.find(([, pattern]) => pattern.test(holding.detail))?.[0] ?? null;
  const differs = lane > 0 && key !== "" && isHeld && holding.value !== server?.value;
  const isFresh = holding.time === time;
  if (key === "" && isHeld) return positionCell(holding, heldBy[lane].get(""), server, isFresh);
  const text = isHeld ? holding.value : "not held";
  return { text, detail: holding.detail, stage, differs, isFresh, isHeld, server };
}
// The epoch stands there only where it has just changed, or is not the server's.
function positionCell(holding, list, server, isFresh) {
  const { epoch, text } = positionOf(holding.value);
  const before = positionOf(list[list.indexOf(holding) - 1]?.value).epoch;
  const current = positionOf(server?.value).epoch;
  const details = [holding.detail];
  if (epoch && current && epoch !== current) details.push("epoch " + epoch + ", the server has " + current);
  else if (epoch && isFresh && before && before !== epoch) details.push("new epoch " + epoch);
  return { text, title: holding.value, detail: details.filter(Boolean).join(", "), stage: null, differs: false, isFresh, isHeld: true };
}
function cellElement(cell, lane, key) {
  const element = tag("td", { "data-lane": lane, "data-key": key });
  if (!cell.text && !cell.detail) {
    element.className = "none";
    element.append("–");
    return element;
  }
  if (!cell.isHeld) element.classList.add("none");
  if (cell.differs) element.classList.add("differs");
  if (cell.stage) element.classList.add(cell.stage);
  if (cell.isFresh) element.classList.add("fresh");
  if (violation?.lane === lane && violation.time === moments[state.moment] && isNamedByViolation(key)) element.classList.add("violation");
  const isLong = cell.text.length > valueLimit;
  const value = tag("span", { class: "value" }, isLong ? cell.text.slice(0, valueLimit) + "…" : cell.text);
  if (isLong || cell.title) value.title = cell.title ?? cell.text;
  element.append(value);
  if (cell.stage) element.append(tag("span", { class: "chip " + cell.stage }, chipWords[cell.stage]));
  if (cell.detail) element.append(tag("span", { class: "detail" }, cell.detail));
  if (cell.differs) {
    const held = cell.server?.value;
    element.append(tag("span", { class: "differs-word" }, held === undefined ? "≠ the server holds none" : "≠ the server's"));
  }
  return element;
}
function drawState() {
  const time = moments[state.moment];
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const onlyDiffering = byId("differing").checked;
  byId("state-time").textContent = "at " + timeText(time);
  const head = tag("tr", {}, tag("th", { scope: "col" }, "Record"));
  lanes.forEach((lane, index) => {
    const isBroken = violation?.lane === index;
    head.append(tag("th", { scope: "col", ...(isBroken ? { class: "named" } : {}) }, (isBroken ? "✖ " : "") + lane.name));
  });
  const body = tag("tbody", {});
  if (heldBy.some(held => held.has(""))) {
    const row = tag("tr", { "data-key": "" }, tag("th", { scope: "row" }, "cursor"));
    lanes.forEach((_, lane) => row.append(cellElement(cellAt(lane, "", time), lane, "")));
    body.append(row);
  }
  let matching = 0;
  let differing = 0;
  let shown = 0;
  for (const key of keys) {
    if (!words.every(word => key.toLowerCase().includes(word))) continue;
    const cells = lanes.map((_, lane) => cellAt(lane, key, time));
    const differs = cells.some(cell => cell.differs);
    if (differs) differing += 1;
    if (onlyDiffering && !differs || cells.every(cell => !cell.text)) continue;
    matching += 1;
    if (shown >= rowLimit) continue;
    shown += 1;
    const isNamed = isNamedByViolation(key);
    const button = tag("button", { type: "button", "aria-pressed": String(state.key === key),
      title: "Dim the writes of other records in the chart" }, (isNamed ? "✖ " : "") + key);
    button.addEventListener("click", () => change({ key: state.key === key ? null : key }));
    const row = tag("tr", { "data-key": key, ...(isNamed ? { class: "named" } : {}) }, tag("th", { scope: "row" }, button));
    cells.forEach((cell, lane) => row.append(cellElement(cell, lane, key)));
    body.append(row);
  }
  if (!body.firstChild) {
    body.append(tag("tr", {}, tag("td", { colspan: lanes.length + 1, class: "none" }, "Nothing is held at this moment.")));
  }
  byId("state").replaceChildren(tag("thead", {}, head), body);
  const notes = [differing === 0 ? "No device differs from the server."
    : counted(differing, "record differs", "records differ") + " from the server's."];
  if (matching > shown) notes.push(counted(matching - shown, "more record") + ": write a part of a key above to find one.");
  byId("state-note").textContent = notes.join(" ");
}
const eventsBefore = 13;
const eventsAfter = 3;
const laneChoice = byId("events-lane");
laneChoice.append(tag("option", { value: "-1" }, "all lanes"));
lanes.forEach((lane, index) => laneChoice.append(tag("option", { value: index }, lane.name)));
laneChoice.value = violation ? String(violation.lane) : "-1";

function drawEvents() {
  const time = moments[state.moment];
  const lane = Number(laneChoice.value);
  const concerns = event => lane < 0 || event.lanes.includes(lane);
  const last = lastUpTo(events, time, event => event.time);
  const before = [];
  for (let index = last; index >= 0 && before.length < eventsBefore; index -= 1) {
    if (concerns(events[index])) before.unshift(events[index]);
  }
  const after = [];
  for (let index = last + 1; index < events.length && after.length < eventsAfter; index += 1) {
    if (concerns(events[index])) after.push(events[index]);
  }
  const line = (event, isLater) => {
    const who = event.kind === "fault" ? "fault" : lanes[event.lanes[0]].name;
    const button = tag("button", { type: "button", ...(event.time === time ? { "aria-current": "true" } : {}) },
      tag("time", {}, timeText(event.time).padStart(timeText(runEnd).length)), tag("span", { class: "who", title: who }, who),
      tag("span", { class: "what" }, event.text));
    button.addEventListener("click", () => goTo(momentNearest(event.time)));
    return tag("li", { class: event.kind + (isLater ? " later" : event.time === time ? " current" : "") }, button);
  };
  const lines = [...before.map(event => line(event, false)), ...after.map(event => line(event, true))];
  if (lines.length === 0) lines.push(tag("li", { class: "empty" }, "Nothing happens here."));
  byId("events").replaceChildren(...lines);
}
laneChoice.addEventListener("change", drawEvents);

// Of which device the chart shows the messages.
const messageChoice = byId("messages-lane");
messageChoice.append(tag("option", { value: "-1" }, "all devices"));
lanes.forEach((lane, index) => { if (index > 0) messageChoice.append(tag("option", { value: index }, lane.name)); });
function chooseLane(lane) {
  messageChoice.value = String(lane);
  change({ lane });
}
messageChoice.addEventListener("change", () => chooseLane(Number(messageChoice.value)));
