extension Page {
    /// The page's elements, which the script fills.
    static let body = #"""
        <body>
        <noscript>This report is drawn by its own script: allow scripts for this page.</noscript>
        <header>
          <div class="head"><h1 id="title"></h1> <button type="button" id="theme"></button></div>
          <p id="summary"></p>
          <div class="again" id="again">
            <span id="again-label">Run it again</span>
            <code id="command" tabindex="0" aria-labelledby="again-label"></code>
            <button type="button" id="copy">Copy</button>
          </div>
          <details id="scenario-box"><summary>Scenario</summary><pre id="scenario"></pre></details>
          <section id="verdict" aria-label="Verdict"></section>
        </header>
        <main>
          <section class="controls" aria-label="Moment and view">
            <div class="row">
              <button type="button" id="back" aria-label="Previous moment" title="Previous moment (left arrow)">◀</button>
              <button type="button" id="on" aria-label="Next moment" title="Next moment (right arrow)">▶</button>
              <label for="moment">Moment</label>
              <input type="range" id="moment" min="0" max="0" value="0" step="1">
              <output id="now" for="moment"></output>
            </div>
            <div class="row small">
              <span class="group" role="group" aria-label="Zoom">
                <button type="button" id="out" aria-label="Zoom out" title="Zoom out (-)">−</button>
                <button type="button" id="in" aria-label="Zoom in" title="Zoom in (+)">+</button>
                <button type="button" id="all" title="Show the whole run (0)">Whole run</button>
                <button type="button" id="jump"></button>
              </span>
              <label class="switch"><input type="checkbox" id="true-scale"> True time scale</label>
              <label class="switch" id="idle-box"><input type="checkbox" id="idle"> <span id="idle-note"></span></label>
              <span><label for="messages-lane">Messages of</label> <select id="messages-lane"></select></span>
              <span class="muted"><span id="scale-note"></span> <span id="crowd-note"></span> <span id="label-note"></span></span>
              <span class="muted keys">wheel zooms · drag pans · click pins · <kbd>←</kbd> <kbd>→</kbd> moment
                <span id="jump-key">· <kbd>f</kbd> <span id="jump-word"></span></span></span>
            </div>
          </section>
          <section class="wide" aria-label="Lanes over virtual time">
            <ul id="legend" aria-label="Legend"></ul>
            <svg id="overview" role="img" aria-label="The whole run; the frame is what the chart below shows"></svg>
            <svg id="chart" tabindex="0" role="group" aria-describedby="chart-help"
              aria-label="Lanes over virtual time: messages, writes, faults"></svg>
            <p id="chart-help" class="hidden">The list of events and the table below say the same in words for the chosen moment.</p>
          </section>
          <div class="below">
            <section aria-labelledby="state-title">
              <h2 id="state-title">What each holds <span id="state-time" class="muted"></span></h2>
              <p class="row small">
                <label for="filter">Keys</label> <input type="search" id="filter" placeholder="all">
                <label class="switch"><input type="checkbox" id="differing"> only where a device differs from the server</label>
              </p>
              <div class="scroll" tabindex="0" role="region" aria-labelledby="state-title"><table id="state"></table></div>
              <p id="state-note" class="muted"></p>
            </section>
            <section aria-labelledby="events-title">
              <h2 id="events-title"></h2>
              <p class="row small"><label for="events-lane">Events of</label> <select id="events-lane"></select></p>
              <ol id="events"></ol>
            </section>
          </div>
        </main>
        <div id="tip" role="status" hidden></div>

        """#
}
