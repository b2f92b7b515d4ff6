extension Page {
    /// Times, durations and names in words, and the making of elements.
    static let wordScript = #"""
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
        """#
}
