extension Page {
    /// The list of events around the moment chosen, which is also what the chart says to those who cannot see it.
    static let eventScript = #"""
        const eventsBefore = 13;
        const eventsAfter = 3;
        const laneChoice = byId("events-lane");
        laneChoice.append(tag("option", { value: "-1" }, "all lanes"));
        lanes.forEach((lane, index) => laneChoice.append(tag("option", { value: index }, lane.name)));
        laneChoice.value = breach ? String(breach.lane) : "-1";

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
        """#
}
