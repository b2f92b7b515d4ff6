extension Page {
    /// The styles of the chart.
    static let chartStyle = #"""
        svg text { font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
        svg .mono { font: 10.5px var(--mono); }
        svg .quiet { fill: var(--muted); }
        .lane-band { fill: var(--panel); }
        .lane-band.odd { fill: var(--band); }
        .lane-name { font-size: 13px; font-weight: 600; }
        .lane.broken .lane-name, .lane.broken .lane-note { fill: var(--violation); font-weight: 600; }
        .lane-edge { fill: var(--violation); }
        .gutter { fill: var(--panel); }
        .rule { stroke: var(--line); stroke-width: 1; }
        .lifeline { stroke: var(--muted); stroke-width: 1.5; }
        .grid { stroke: var(--line); stroke-width: 1; stroke-dasharray: 1 3; }
        .break { fill: var(--muted); fill-opacity: 0.09; stroke: var(--muted); stroke-opacity: 0.5; stroke-dasharray: 2 3; }
        .break-sign { stroke: var(--muted); fill: none; stroke-width: 1.2; }
        .fault { fill: url(#fault-pattern); stroke: var(--fault); stroke-width: 1; }
        .fault-region { fill: var(--fault); fill-opacity: 0.07; }
        .fault-region.instant { fill-opacity: 0.45; }
        .lane:not([data-lane="0"]) { cursor: pointer; }
        .fault.instant { fill: var(--fault); stroke: none; }
        text.fault-label { fill: var(--fault-ink); font-weight: 600; }
        .message { fill: none; stroke: var(--message); stroke-width: 1.4; marker-end: url(#head-arrived); }
        .message.lost { stroke: var(--lost); stroke-width: 1.8; marker-end: url(#head-lost); }
        .message.refused { stroke: var(--lost); stroke-width: 1.8; marker-end: url(#head-refused); }
        .message.intercepted { stroke: var(--lost); stroke-width: 1.8; marker-end: url(#head-intercepted); }
        .message.ignored { stroke: var(--ignored); stroke-dasharray: 5 4; marker-end: url(#head-ignored); }
        .message.underWay { stroke: var(--message); stroke-dasharray: 1 3; marker-end: url(#head-underWay); }
        .message.suspect { stroke: var(--ink); stroke-width: 3; marker-end: url(#head-suspect); }
        .crowded .message.arrived { stroke-opacity: 0.45; stroke-width: 1; }
        .crowded .message.suspect { stroke-opacity: 1; }
        text.message-label, text.mark-label, text.fault-label, text.cursor { paint-order: stroke; stroke: var(--panel); stroke-width: 3px;
          stroke-linejoin: round; }
        .odd text.message-label, .odd text.mark-label, .odd text.cursor { stroke: var(--band); }
        text.message-label { fill: var(--message); }
        text.message-label.lost, text.message-label.refused, text.message-label.intercepted { fill: var(--lost); font-weight: 600; }
        text.message-label.ignored { fill: var(--ignored); }
        text.message-label.suspect { fill: var(--ink); font-weight: 700; }
        .head { fill: var(--message); }
        .head.strong { fill: var(--ink); }
        .head.open { fill: var(--panel); stroke: var(--ignored); }
        .head.cross { fill: none; stroke: var(--lost); stroke-width: 2.2; }
        .head.bar { fill: none; stroke: var(--lost); stroke-width: 2.6; }
        .head.box { fill: var(--panel); stroke: var(--lost); stroke-width: 1.8; }
        .head.ring { fill: var(--panel); stroke: var(--message); }
        .mark { fill: var(--panel); stroke: var(--ink); stroke-width: 1.5; }
        .cursor-tick { stroke: var(--muted); stroke-width: 1; }
        text.cursor { fill: var(--muted); }
        .write { stroke: var(--panel); stroke-width: 1; }
        .write.pending { fill: url(#pending-pattern); }
        .write.acknowledged { fill: var(--acknowledged); }
        .write.confirmed { fill: var(--confirmed); }
        .write.rejected { fill: url(#rejected-pattern); }
        .write.rolledBack { fill: var(--rolledBack); }
        .write.cleared { fill: var(--cleared); }
        .write-sign { fill: none; stroke: #101418; stroke-width: 1.7; stroke-linecap: round; stroke-linejoin: round; }
        svg text.write-label { fill: #101418; paint-order: stroke; stroke: rgb(255 255 255 / 55%); stroke-width: 2px; }
        .violation-line { stroke: var(--violation); stroke-width: 6; stroke-opacity: 0.3; }
        #overview .violation-line { stroke-width: 2; stroke-opacity: 1; }
        .violation-flag { fill: var(--violation); }
        svg text.violation-text { fill: light-dark(#ffffff, #16080b); font-weight: 700; font-size: 12px; }
        .violation-ring { fill: var(--violation-soft); stroke: var(--violation); stroke-width: 3; }
        .violation-cross { stroke: var(--violation); stroke-width: 2.5; stroke-linecap: round; }
        .now-line { stroke: var(--now); stroke-width: 1.5; }
        .now-handle { fill: var(--now); }
        .hover { fill: none; stroke: var(--now); stroke-width: 3; stroke-opacity: 0.75; }
        .dim { opacity: 0.25; }
        .density { fill: var(--message); fill-opacity: 0.45; }
        .frame { fill: var(--now); fill-opacity: 0.1; stroke: var(--now); stroke-width: 1.5; }

        """#

    /// The styles of the table of cache entries, the list of events, and the tips.
    static let tableStyle = #"""
        .scroll { overflow: auto; max-height: 520px; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
        table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 13px; }
        th, td { text-align: left; vertical-align: top; padding: 5px 10px; border-bottom: 1px solid var(--line); }
        thead th { position: sticky; top: 0; background: var(--panel); z-index: 1; border-bottom: 2px solid var(--line);
          white-space: nowrap; }
        tbody th { font: 12.5px var(--mono); white-space: nowrap; }
        tbody th button { font: inherit; border: 0; padding: 0; background: none; text-decoration: underline dotted; }
        tbody th button[aria-pressed=true] { color: var(--now); font-weight: 700; text-decoration: underline; }
        td .value { font: 12.5px var(--mono); display: block; overflow-wrap: anywhere; }
        td .detail { color: var(--muted); font-size: 12px; display: block; }
        td.none { color: var(--muted); }
        td.differs { background: var(--differs); box-shadow: inset 3px 0 0 var(--differs-line); }
        td.breach { outline: 3px solid var(--violation); outline-offset: -3px; }
        td .differs-word { color: var(--differs-line); font-size: 12px; font-weight: 600; display: block; }
        td.fresh .value::after { content: " ● new"; color: var(--now); font-size: 11px; }
        .chip { display: block; width: max-content; margin: 2px 0; border-radius: 4px; padding: 0 6px; font-size: 11.5px;
          font-weight: 600; color: #101418; }
        .chip.pending { background: repeating-linear-gradient(135deg, #e69f00 0 5px, #ffcf66 5px 10px); }
        .chip.acknowledged { background: var(--acknowledged); }
        .chip.rejected { background: repeating-linear-gradient(45deg, #d55e00 0 4px, #f59a55 4px 8px); }
        .chip.rolledBack { background: var(--rolledBack); }
        .chip.stale { background: var(--cleared); }
        .named th, thead th.named { color: var(--violation); }
        #events { list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--panel);
          font-size: 13px; overflow: hidden; }
        #events li { border-bottom: 1px solid var(--line); }
        #events li:last-child { border-bottom: 0; }
        #events button { display: grid; grid-template-columns: max-content 10ch 1fr; gap: 10px; width: 100%; text-align: left; border: 0;
          border-radius: 0; background: none; padding: 3px 10px; }
        #events button:focus-visible { outline-offset: -2px; }
        #events time { font: 12px/1.6 var(--mono); color: var(--muted); white-space: pre; }
        #events .who { font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        #events .what { overflow-wrap: anywhere; }
        #events .current { background: color-mix(in srgb, var(--now) 12%, transparent); }
        #events .later { color: var(--muted); font-style: italic; }
        #events .lost .what { color: var(--lost); }
        #events .fault .what { color: var(--fault-ink); }
        #events .breach .what, #events .breach .who { color: var(--violation); font-weight: 700; }
        #events .empty { padding: 8px 10px; color: var(--muted); }
        #tip { position: fixed; z-index: 9; max-width: 460px; background: var(--panel); color: var(--ink); border: 1px solid var(--muted);
          border-radius: 8px; padding: 8px 12px; font-size: 13px; box-shadow: 0 4px 18px rgb(0 0 0 / 25%); pointer-events: none; }
        #tip.pinned { pointer-events: auto; border: 2px solid var(--now); }
        #tip h3 { font-size: 13px; margin: 0 0 2px; overflow-wrap: anywhere; white-space: pre-wrap; }
        #tip dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 10px; margin: 0; }
        #tip dt { color: var(--muted); }
        #tip dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
        #tip .row { margin: 6px 0 0; }
        @media print { .controls { position: static; } .scroll { max-height: none; } }

        """#
}
