"""Is the exponent b, with which the loss is a function of λη^b, one number over lengths, widths and texts?"""

from study import about, count, lines, number, of_mean, whole

CELLS = "weight_decay={timescale: {log: [0.03, 1.687], points: 8}}"  # the part of the plane where the decay matters
BYTES = ("corpus=bytes", "vocabulary=null", "corpus_tokens=null", "train_text=wiki.valid.tokens",
         "valid_text=wiki.test.tokens")
SWEEPS = {"base": whole("timescale"),
          "lengths": whole("timescale", CELLS, "steps=[150, 600]"),
          "narrow": whole("timescale", CELLS, "width=16", "feedforward=32"),
          "wide": whole("timescale", CELLS, "width=64", "feedforward=128"),
          "once": whole("timescale", CELLS, "corpus_tokens=200000"),
          "bytes": whole("timescale", CELLS, *BYTES),
          "larger": whole("timescale", CELLS, *BYTES, "layers=4", "width=64", "feedforward=128", "steps=600",
                          "learning_rate={log: [1e-3, 1e-1], points: 5}")}
BASE = "300 steps"
PARTS = {BASE: "base", "150 steps": "lengths", "600 steps": "lengths", "width 16": "narrow", "width 64": "wide",
         "text read once": "once", "bytes": "bytes", "4 layers": "larger"}
VARIABLES = {"loss": "final_valid_loss", "growth": "norm_growth"}


def found(ds, variable, longest=3, **kept):
    """The exponent over the cells in which decay matters: of timescales of fewer runs than `longest`."""
    return ds.sel(kept).sweep.collapse(variable, where=ds.timescale < longest)


def numbers(**datasets):
    from normsweep import significance
    planes = {part: datasets[key] for part, key in PARTS.items()}
    planes = {part: (ds.sel(steps=int(part.split()[0])) if "steps" in ds.dims else ds).sweep.with_axes(
        "learning_rate", "timescale") for part, ds in planes.items()}
    base = planes[BASE]
    for name, variable in VARIABLES.items():
        differences = []  # [settings but BASE][seeds]
        for part, ds in planes.items():
            at = found(ds, variable)
            yield number(f"exponent, {name}, {part}", at.exponent, at.low, at.high, "95 % of seeds")
            yield about(f"deviation of cells from the curve, {name}, {part}", at.spread)
            yield about(f"deviation of cells from a curve with exponent 1, {name}, {part}", at.apart.sel(b=1))
            yield about(f"noise of a cell, {name}, {part}", at.noise)
            yield count(f"cells, {name}, {part}", at.cells)
            at = found(ds, variable, longest=1)
            yield number(f"exponent, {name}, {part}, timescales below 1", at.exponent, at.low, at.high, "95 % of seeds")
            if part != BASE:
                differences.append([found(ds, variable, seed=[seed]).exponent.item()
                                    - found(base, variable, seed=[seed]).exponent.item() for seed in ds.seed.values])
                yield of_mean(f"exponent less that of {BASE}, {name}, {part}", differences[-1])
        q = significance.discoveries(significance.mean(differences).p)
        yield about(f"least q of the exponents less that of {BASE}, {name}", q.min(), 0.3)


def figure(rows):
    drawn = lines(rows, {name: {part: f"exponent, {name}, {part}" for part in PARTS} for name in VARIABLES},
                  "", "exponent $b$ (–)")
    axes = drawn.axes[0]
    axes.axhline(1, color="grey", linestyle=":", linewidth=1)
    axes.text(0.02, 0.97, "timescale", transform=axes.get_yaxis_transform(), va="top", fontsize="small")
    return drawn
