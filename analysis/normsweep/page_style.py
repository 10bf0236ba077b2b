"""The style of a page: one column of text for a report, a grid for a sweep under way."""

STYLE = """
:root { color-scheme: light dark; --text: #1b1b1b; --ground: #fff; --line: #c9c9c9; --quiet: #5c5c5c; --shade: #f3f3f3;
  --mark: #0060a0 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --ground: #161616; --line: #454545; --quiet: #a3a3a3; --shade: #222;
    --mark: #6db8ee }
}
* { box-sizing: border-box }
body { color: var(--text); background: var(--ground); font: 1rem/1.5 system-ui, sans-serif; max-width: 54rem;
  margin: 0 auto; padding: 1rem }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 0.3rem; overflow-wrap: anywhere }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.5rem; padding-top: 0.4rem; border-top: 1px solid var(--line) }
h3 { font-size: 1rem; margin: 1.3rem 0 0.3rem }
p { margin: 0.4rem 0 }
nav { margin: 0.8rem 0; line-height: 1.8 }
nav a { display: inline-block; margin-right: 1rem }
a { color: inherit }
.quiet, figcaption { color: var(--quiet); font-size: 0.9rem }
.wide { overflow-x: auto; margin: 0.6rem 0; background:  /* shade the sides that can be scrolled to */
  linear-gradient(90deg, var(--ground) 30%, transparent) left / 2rem 100% no-repeat local,
  linear-gradient(270deg, var(--ground) 30%, transparent) right / 2rem 100% no-repeat local,
  linear-gradient(90deg, var(--line), transparent) left / 0.8rem 100% no-repeat scroll,
  linear-gradient(270deg, var(--line), transparent) right / 0.8rem 100% no-repeat scroll }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums }
.tag { display: inline-block; font-size: 0.8rem; padding: 0.05rem 0.55rem; margin: 0 0.3rem 0.2rem 0;
  border: 1px solid var(--line); border-radius: 1rem; overflow-wrap: anywhere; max-width: 100% }
.notes { white-space: pre-line; overflow-wrap: anywhere; max-width: 60rem }
.headlines { margin: 0.5rem 0; padding-left: 1.2rem }
details { margin: 0.6rem 0 } summary { cursor: pointer; color: var(--quiet) }
.key { display: inline-block; margin-right: 1.2rem }
th, td { padding: 0.15rem 1rem 0.15rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th { font-weight: 600 }
td.number, th.number { text-align: right }
td.number { white-space: nowrap }
td.text, td code { overflow-wrap: anywhere }
td.text { min-width: 8rem }
figure { margin: 1.6rem 0 2.4rem; position: relative }
figure::after { content: ""; display: block; clear: both }
figure > img { display: block; width: 100%; height: auto; background: #fff; border-radius: 4px; cursor: zoom-in }
figcaption { margin-top: 0.4rem }
button { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 4px;
  cursor: pointer }
button:focus-visible, a:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px }
.enlarge { float: right; width: 2.4rem; height: 2.4rem; margin: 0.5rem 0 0.2rem 0.8rem; padding: 0.6rem;
  line-height: 0 }
.enlarge:hover { border-color: currentColor }
.enlarge svg { width: 100%; height: 100%; fill: none; stroke: currentColor; stroke-width: 1.6 }
dialog { color: inherit; background: var(--ground); border: 0; padding: 0; margin: 0; width: 100vw; height: 100vh;
  height: 100dvh; max-width: none; max-height: none; overflow: auto }
.close { position: fixed; top: 0.6rem; right: 1rem; padding: 0.35rem 0.9rem; z-index: 1 }
.shown { padding: 3.4rem 1rem 1rem; min-width: min-content }
.shown img { display: block; width: max(100%, 46rem); max-width: calc(1.55 * (100vh - 8rem)); min-width: 46rem;
  margin: 0 auto; background: #fff; cursor: zoom-out }
.shown figcaption { position: sticky; left: 1rem; width: calc(100vw - 3rem); max-width: 54rem;
  margin: 0.6rem max(0px, (100% - 54rem) / 2) }
pre { background: var(--shade); padding: 0.8rem; overflow-x: auto; font-size: 0.8rem; line-height: 1.4 }
@media (max-width: 36rem) {
  table { font-size: 0.8rem }
  th, td { padding-right: 0.5rem }
}
@media print {
  :root { --text: #000; --ground: #fff; --line: #bbb; --quiet: #444; --shade: #fff }
  body { max-width: none; padding: 0; font-size: 10pt }
  nav, button { display: none }
  .wide { overflow: visible; background: none }
  pre { white-space: pre-wrap; overflow-wrap: anywhere }
  figure, tr { break-inside: avoid }
  h2, h3 { break-after: avoid }
}
"""
