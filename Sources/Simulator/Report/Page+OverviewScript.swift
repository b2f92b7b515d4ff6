extension Page {
    /// The strip above the chart: the whole run, how much happened when, and the window that the chart shows.
    static let overviewScript = #"""
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
          if (breach) {
            const x = pixel(overviewX(placeOf(breach.time)));
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
        """#
}
