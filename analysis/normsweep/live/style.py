"""The style of the page of a sweep under way, on top of that of every page."""

from .curves import palette

LIGHT, DARK = palette()

STYLE = """
body.live { max-width: 84rem; --done: #3b6ea5; --running: #0a8a5f; --failed: #c0302b; --blank: #ececec; --hatch: #777 }
""" + LIGHT + """
@media (prefers-color-scheme: dark) {
  body.live { --done: #6fa3d8; --running: #3cc894; --failed: #f0716a; --blank: #2a2a2a; --hatch: #999 }
""" + DARK + """
}
.live h1 { margin: 0.2rem 0; font-size: 1.5rem }
.live h2 { margin: 0 0 0.5rem; padding: 0; border: 0; font-size: 1.05rem }
.live h3 { margin: 0 0 0.2rem; font-size: 0.9rem }
.live section { min-width: 0; margin-bottom: 1.4rem }
.live #top { margin-bottom: 0.4rem }
.live main { display: grid; grid-template-columns: minmax(0, 1fr); column-gap: 2.5rem }
@media (min-width: 62rem) {
  .live main { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr) }
  #top, #state, #curves, #stale { grid-column: 1 / -1 }
}
.pill { display: inline-flex; align-items: center; gap: 0.45rem; font-size: 0.85rem; font-weight: 600 }
.pill i { width: 0.65rem; height: 0.65rem; border-radius: 50%; background: var(--quiet) }
.pill.running i { background: var(--running); animation: pulse 2s ease-in-out infinite }
.pill.complete i { background: var(--done) }
.pill.lost i { background: var(--failed) }
@keyframes pulse { 50% { opacity: 0.35 } }
@media (prefers-reduced-motion: reduce) { .pill.running i { animation: none } }
.share { display: flex; height: 0.9rem; margin: 0.8rem 0 0.4rem; background: var(--blank); border-radius: 3px;
  overflow: hidden }
.share i { display: block; min-width: 2px }
.of-done { background: var(--done) } .of-failed { background: var(--failed) } .of-running { background: var(--running) }
.of-diverged { background: repeating-linear-gradient(45deg, var(--hatch) 0 2px, var(--blank) 2px 5px) }
.of-pending { background: var(--blank) }
.facts { display: flex; flex-wrap: wrap; gap: 0.3rem 2rem; margin: 0.9rem 0 0 }
.facts div { min-width: 5rem }
.facts dt { font-size: 0.8rem; color: var(--quiet) }
.facts dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums }
.keys { display: flex; flex-wrap: wrap; gap: 0.1rem 1.1rem; font-size: 0.85rem }
.keys .key { display: inline-flex; align-items: center; gap: 0.4rem; margin: 0; font-variant-numeric: tabular-nums }
.keys i { flex: none; width: 0.8rem; height: 0.8rem; border-radius: 2px; border: 1px solid var(--line) }
.keys i.line { height: 0; border: 0; border-top: 3px solid var(--line); border-radius: 0; width: 1.2rem }
.steps { display: inline-flex; gap: 1px }
.live figure { margin: 0 } .live .enlarge { position: absolute; top: -2.6rem; right: 0; margin: 0; width: 2.2rem;
  height: 2.2rem; padding: 0.5rem }
.panels.many { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem 1.6rem }
.plot { display: grid; grid-template-columns: auto calc(var(--ticks) + 0.6rem) minmax(0, 1fr); font-size: 0.8rem;
  font-variant-numeric: tabular-nums; margin: 0.2rem 0.6rem 0 0 }
.plot .area { grid-column: 3; aspect-ratio: 4 / 3; background: var(--blank); position: relative }
.curves .plot .area { background: none; border-left: 1px solid var(--line); border-bottom: 1px solid var(--line);
  aspect-ratio: 16 / 9 }
.plot svg { display: block; width: 100%; height: 100%; shape-rendering: crispEdges }
.curves .plot svg { shape-rendering: auto }
.plot .side { grid-row: 1; writing-mode: vertical-rl; transform: rotate(180deg); text-align: center; line-height: 1.3 }
.plot .beside { grid-row: 1; grid-column: 2; position: relative }
.plot .beside span { position: absolute; right: 0.4rem; transform: translateY(50%); line-height: 1; max-width: 100%;
  overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
.plot .below, .bar .below { grid-column: 3; position: relative; height: 1.5rem }
.below span { position: absolute; top: 0.2rem; transform: translateX(-50%); white-space: nowrap }
.plot .under { grid-column: 3; text-align: center }
.plot svg .is-diverged { fill: url(#hatch-diverged) }
.plot svg .is-failed { fill: url(#hatch-failed) }
.plot svg .is-skipped { fill: url(#hatch-skipped) }
.plot svg .is-done { fill: var(--done) }
.plot svg .is-running { fill: none; stroke: var(--running); stroke-width: 2; vector-effect: non-scaling-stroke }
.plot svg .boundary { fill: none; stroke: #000; stroke-width: 2; vector-effect: non-scaling-stroke;
  shape-rendering: auto }
.plot svg .boundary.under { stroke: #fff; stroke-width: 4; opacity: 0.55 }
.plot svg .line { fill: none; stroke: var(--line); stroke-width: 1; stroke-linejoin: round;
  vector-effect: non-scaling-stroke; opacity: 0.7 }
.plot svg .line.now { stroke-width: 2.4; opacity: 1; stroke-linecap: round }
.plot svg .guide { stroke: var(--blank); vector-effect: non-scaling-stroke }
.hatches { position: absolute; width: 0; height: 0 }
.hatches rect { fill: var(--blank) } .hatches path { stroke: var(--hatch); stroke-width: 2.5; fill: none }
.hatches .of-failed { stroke: var(--failed); stroke-width: 5 }
.legend { margin: 0.6rem 0 0 }
.bar { font-size: 0.8rem; max-width: 26rem; margin-bottom: 0.4rem }
.bar .ramp { height: 0.7rem; border-radius: 2px }
i.key-diverged { background: repeating-linear-gradient(45deg, var(--hatch) 0 1px, var(--blank) 1px 4px) }
i.key-failed { background: repeating-linear-gradient(90deg, var(--failed) 0 2px, var(--blank) 2px 5px) }
i.key-skipped { background: radial-gradient(var(--hatch) 22%, transparent 30%) 0 0 / 4px 4px }
i.key-running { border: 2px solid var(--running) !important; background: none }
i.key-pending { background: var(--blank) }
i.key-done { background: var(--done) }
i.key-implied-by-the-search { background: linear-gradient(90deg, #b9b3d3, #f1cfa2) }
i.key-no-growth { height: 2px !important; border: 0 !important; background: #000; outline: 1px solid #fff }
.reading { min-height: 1.5em; font-size: 0.85rem; color: var(--quiet) }
.runs { list-style: none; margin: 0; padding: 0 }
.runs li { padding: 0.35rem 0; border-bottom: 1px solid var(--line); font-size: 0.88rem; overflow-wrap: anywhere }
.runs + h2 { margin-top: 1.4rem }
.runs .more { color: var(--quiet); font-size: 0.82rem; font-variant-numeric: tabular-nums }
.runs .more b { font-weight: 500; color: var(--text) }
progress { appearance: none; display: block; width: 100%; height: 0.35rem; margin: 0.2rem 0; border: 0;
  background: var(--blank); border-radius: 2px; overflow: hidden }
progress::-webkit-progress-bar { background: var(--blank) }
progress::-webkit-progress-value { background: var(--running) }
progress::-moz-progress-bar { background: var(--running) }
.failed b { color: var(--failed); font-weight: 600 }
#stale { padding: 0.6rem 0.9rem; margin: 0 0 1rem; border-left: 4px solid var(--failed); background: var(--shade) }
.shown .panels, .shown .legend, .shown .reading { max-width: calc(1.3 * (100vh - 10rem)); margin-inline: auto }
.shown .panels.many { max-width: none }
@media print { .live main { display: block } .plot { break-inside: avoid } }
"""
