extension Page {
    /// The axis: virtual time to places ("units", one for a millisecond where nothing is squeezed) and back.
    static let scaleScript = #"""
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
        """#
}
