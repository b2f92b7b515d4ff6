extension Page {
    /// Light and dark colours. The stages have the colours of Okabe and Ito, which most people can distinguish; each stage also has a
    /// separate sign or pattern.
    static let style = #"""
        :root {
          color-scheme: light dark;
          --page: light-dark(#f6f7f9, #11151b); --panel: light-dark(#ffffff, #181d25); --ink: light-dark(#1a1f27, #e8ecf2);
          --muted: light-dark(#55606e, #a3aebd); --line: light-dark(#d3d8e0, #343c49); --band: light-dark(#f1f3f7, #1d232d);
          --focus: light-dark(#0b57d0, #8ab4f8); --message: light-dark(#4b5b73, #9fb0c8); --lost: light-dark(#b84300, #ff9052);
          --ignored: light-dark(#66707e, #8d98a8); --fault: light-dark(#6a4bc4, #a58bf5); --fault-ink: light-dark(#4f33a3, #cbbcff);
          --violation: light-dark(#c8102e, #ff5c75); --violation-soft: light-dark(#fdecef, #3a1620); --good: light-dark(#00694d, #4fd0a5);
          --now: light-dark(#0b57d0, #8ab4f8); --differs: light-dark(#fff1cc, #3d3210); --differs-line: light-dark(#8f6400, #f2c14e);
          --pending: #e69f00; --acknowledged: #56b4e9; --confirmed: #009e73; --rejected: #d55e00; --rolledBack: #cc79a7; --cleared: #9aa0a6;
          --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
        header, main { max-width: 1900px; margin: 0 auto; padding: 14px 20px 0; }
        main { padding-bottom: 28px; }
        .head { display: flex; gap: 16px; align-items: flex-start; justify-content: space-between; }
        #theme { white-space: nowrap; }
        h1 { font-size: 20px; margin: 0; overflow-wrap: anywhere; }
        h2 { font-size: 15px; margin: 0 0 6px; }
        #summary { margin: 2px 0 8px; color: var(--muted); }
        .muted { color: var(--muted); font-weight: normal; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0; }
        [hidden] { display: none !important; }
        :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
        button, select, input[type=search] { font: inherit; color: inherit; background: var(--panel);
          border: 1px solid var(--line); border-radius: 6px; padding: 3px 10px; }
        button { cursor: pointer; }
        button:hover:not(:disabled) { border-color: var(--muted); }
        button:disabled { color: var(--muted); cursor: default; }
        kbd { font: 11px var(--mono); border: 1px solid var(--line); border-radius: 4px; padding: 0 4px; background: var(--panel); }
        .again { display: flex; gap: 8px; align-items: center; margin-bottom: 6px; flex-wrap: wrap; }
        .again span { color: var(--muted); }
        .again code { font: 13px var(--mono); background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
          padding: 3px 10px; overflow-wrap: anywhere; }
        details { margin-bottom: 8px; }
        summary { cursor: pointer; width: max-content; }
        pre { font: 13px/1.5 var(--mono); background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 10px;
          overflow: auto; max-height: 300px; margin: 6px 0; }
        #verdict { border-radius: 8px; padding: 10px 14px; background: var(--panel); border: 1px solid var(--line); border-left-width: 6px;
          display: flex; gap: 4px 16px; align-items: center; flex-wrap: wrap; }
        #verdict h2 { margin: 0; font-size: 17px; }
        #verdict p { margin: 2px 0 0; flex-basis: 100%; max-width: 120ch; white-space: pre-wrap; overflow-wrap: anywhere; }
        #verdict.broken { background: var(--violation-soft); border-color: var(--violation); }
        #verdict.broken h2 { color: var(--violation); }
        #verdict.held { border-color: var(--good); }
        #verdict.held h2 { color: var(--good); }
        .controls { position: sticky; top: 0; z-index: 3; background: var(--page); padding: 4px 0 6px;
          border-bottom: 1px solid var(--line); }
        .row { display: flex; gap: 8px 12px; align-items: center; flex-wrap: wrap; margin: 4px 0; }
        .small { font-size: 13px; }
        .keys { margin-left: auto; }
        .group { display: inline-flex; gap: 4px; }
        #moment { flex: 1 1 240px; accent-color: var(--now); margin: 0; height: 24px; }
        #now { font: 13px var(--mono); min-width: 27ch; text-align: right; }
        .switch { display: inline-flex; gap: 5px; align-items: center; }
        #legend { display: flex; flex-wrap: wrap; gap: 2px 16px; list-style: none; margin: 8px 0 4px; padding: 0; font-size: 12.5px; }
        #legend li { display: inline-flex; gap: 6px; align-items: center; }
        #overview, #chart { display: block; width: 100%; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
        .wide { overflow-x: auto; }
        .wide > svg { min-width: 700px; }
        #overview { height: 46px; margin-bottom: 6px; cursor: pointer; touch-action: none; }
        #chart { cursor: crosshair; touch-action: pan-y; user-select: none; }
        #chart.dragging { cursor: grabbing; }
        .below { display: grid; grid-template-columns: minmax(0, 3fr) minmax(340px, 2fr); gap: 22px; margin-top: 16px; }
        @media (max-width: 1000px) { .below { grid-template-columns: minmax(0, 1fr); } }

        """# + chartStyle + tableStyle
}
