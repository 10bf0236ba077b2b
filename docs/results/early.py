"""Does `stop_when: phase` change the phase of a run, and how much does it save? Whole grids, trained twice."""

from study import count, number, small

GRID = ("steps=400", "learning_rate={log: [1e-1, 1e-4], points: 7}", "weight_decay={log: [10, 1e-3], points: 9}",
        "seed=0", "measure={every: 10}")
TEXT = ("corpus=text", "sequences=lines", "train_text=wiki.valid.tokens", "valid_text=wiki.test.tokens",
        "vocabulary=null", "corpus_tokens=null", "context=32", "batch=4", "steps=120")
GRIDS = {"markov": (), "text": TEXT, "schedules": ("norm_placement=out", "schedule=[cosine, wsd, linear]"),
         "optimisers": ("norm_placement=out", "optimiser=[lion, muon, adafactor, normalized_sgd]"),
         "high": ("norm_placement=[out, pre]", "learning_rate={log: [10, 1e-2], points: 7}")}
WHOLE = {name: small("boundary-study", *GRID, *settings) for name, settings in GRIDS.items()}
SWEEPS = {**WHOLE, **{f"{name}_early": [*words, "--set", "stop_when=phase"] for name, words in WHOLE.items()}}


def numbers(**datasets):
    cells = changed = 0
    for name in GRIDS:
        whole, early = datasets[name], datasets[f"{name}_early"]
        axis = next(axis for axis in ("schedule", "optimiser", "norm_placement") if axis in whole.dims)
        for value in whole[axis].values:
            a, b = whole.sel({axis: value}), early.sel({axis: value})
            where = f"{name}, {value}"
            ended, saved = (b.ended_early == 1).sum(), 1 - b.last_step.sum() / a.last_step.sum()
            yield number(f"runs of 63 that end early, {where}", ended, ended - 5, ended + 5, "± 5")
            yield number(f"share of steps saved, {where}", saved, saved - 0.04, saved + 0.04, "± 0.04")
            yield count(f"phases changed, {where}", (a.phase != b.phase).sum())
        cells, changed = cells + whole.phase.size, changed + (whole.phase != early.phase).sum()
    yield count("cells", cells)
    yield count("phases changed", changed)
    yield count("cells of which one may change, 95 %", 1 / (1 - 0.05 ** (1 / cells)))  # if none has changed
    saved = 1 - (sum(datasets[f"{name}_early"].last_step.sum() for name in GRIDS)
                 / sum(datasets[name].last_step.sum() for name in GRIDS))
    yield number("share of steps saved", saved, saved - 0.03, saved + 0.03, "± 0.03")
